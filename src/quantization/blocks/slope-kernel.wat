;; What changes in H e when one element of e does, for eight columns at a time. Assembled into slope-kernel-bytes.ts with
;;   npx --package=wabt wat2wasm slope-kernel.wat -o slope-kernel.wasm && base64 -w0 slope-kernel.wasm
;;
;; Memory (bytes):
;;    0 .. 32     the changes, a float32 per column
;;   32 ..        slopes: for every four rows, four float32 of each column
;;   then         rows of H, each padded to a multiple of 16 bytes
(module
  (memory (export "memory") 1)

  ;; Adds change * row of H to the slopes of each column; $bytes is a positive multiple of 16.
  (func (export "follow") (param $row i32) (param $bytes i32)
    (local $at i32) (local $to i32) (local $h v128)
    (local $c0 v128)
    (local $c1 v128)
    (local $c2 v128)
    (local $c3 v128)
    (local $c4 v128)
    (local $c5 v128)
    (local $c6 v128)
    (local $c7 v128)
    (local.set $c0 (v128.load32_splat offset=0 (i32.const 0)))
    (local.set $c1 (v128.load32_splat offset=4 (i32.const 0)))
    (local.set $c2 (v128.load32_splat offset=8 (i32.const 0)))
    (local.set $c3 (v128.load32_splat offset=12 (i32.const 0)))
    (local.set $c4 (v128.load32_splat offset=16 (i32.const 0)))
    (local.set $c5 (v128.load32_splat offset=20 (i32.const 0)))
    (local.set $c6 (v128.load32_splat offset=24 (i32.const 0)))
    (local.set $c7 (v128.load32_splat offset=28 (i32.const 0)))
    (loop $next
      (local.set $h (v128.load (i32.add (local.get $row) (local.get $at))))
      (local.set $to (i32.shl (local.get $at) (i32.const 3)))
      (v128.store offset=32 (local.get $to)
        (f32x4.add (v128.load offset=32 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c0))))
      (v128.store offset=48 (local.get $to)
        (f32x4.add (v128.load offset=48 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c1))))
      (v128.store offset=64 (local.get $to)
        (f32x4.add (v128.load offset=64 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c2))))
      (v128.store offset=80 (local.get $to)
        (f32x4.add (v128.load offset=80 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c3))))
      (v128.store offset=96 (local.get $to)
        (f32x4.add (v128.load offset=96 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c4))))
      (v128.store offset=112 (local.get $to)
        (f32x4.add (v128.load offset=112 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c5))))
      (v128.store offset=128 (local.get $to)
        (f32x4.add (v128.load offset=128 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c6))))
      (v128.store offset=144 (local.get $to)
        (f32x4.add (v128.load offset=144 (local.get $to)) (f32x4.mul (local.get $h) (local.get $c7))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $bytes))))))
