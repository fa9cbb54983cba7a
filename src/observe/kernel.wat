;; The two passes of observing float32 values, four at a time. Assembled into kernel-bytes.ts with
;;   npx --package=wabt wat2wasm kernel.wat -o kernel.wasm && base64 -w0 kernel.wasm
;;
;; Memory (bytes):
;;        0 .. 65536    four histograms of 4096 u32, one per lane, so that equal neighbours
;;                      (zeros after a Relu) do not wait for each other's store
;;    65536 .. 65600    results of scan: min, max, largest magnitude bits, zeros; four lanes each
;;    65792 .. 327936   the tile: up to 65536 float32
(module
  (memory (export "memory") 6)

  ;; Extremes, magnitude bits (0x7f800000 and above mean NaN or infinity) and zeros of the
  ;; first $bytes bytes of the tile; $bytes is a positive multiple of 16.
  (func (export "scan") (param $bytes i32)
    (local $at i32) (local $x v128) (local $min v128) (local $max v128) (local $magnitude v128) (local $zeros v128)
    (local.set $min (v128.load offset=65792 (i32.const 0)))
    (local.set $max (local.get $min))
    (loop $next
      (local.set $x (v128.load offset=65792 (local.get $at)))
      (local.set $min (f32x4.pmin (local.get $min) (local.get $x)))
      (local.set $max (f32x4.pmax (local.get $max) (local.get $x)))
      (local.set $magnitude (i32x4.max_u (local.get $magnitude)
        (v128.and (local.get $x) (v128.const i32x4 0x7fffffff 0x7fffffff 0x7fffffff 0x7fffffff))))
      (local.set $zeros (i32x4.sub (local.get $zeros)
        (f32x4.eq (local.get $x) (v128.const f32x4 0 0 0 0))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $bytes))))
    (v128.store offset=65536 (i32.const 0) (local.get $min))
    (v128.store offset=65552 (i32.const 0) (local.get $max))
    (v128.store offset=65568 (i32.const 0) (local.get $magnitude))
    (v128.store offset=65584 (i32.const 0) (local.get $zeros)))

  ;; Counts the first $bytes bytes of the tile into the histograms. Every value is finite and
  ;; |x * scale| < 2048, which the caller knows from scan: there is no bounds check here.
  (func (export "count") (param $bytes i32) (param $scale f32)
    (local $at i32) (local $x v128) (local $by v128) (local $bin i32)
    (local.set $by (f32x4.splat (local.get $scale)))
    (loop $next
      (local.set $x (v128.load offset=65792 (local.get $at)))
      ;; Toward zero, one less for negative values, 2048 up; times four for bytes. Adding 1.5 * 2^23 to a
      ;; whole float leaves the integer in its low bits: cheaper than a saturating conversion.
      (local.set $x (i32x4.shl
        (i32x4.add
          (i32x4.add
            (f32x4.add (f32x4.trunc (f32x4.mul (local.get $x) (local.get $by)))
              (v128.const f32x4 12582912 12582912 12582912 12582912))
            (f32x4.lt (local.get $x) (v128.const f32x4 0 0 0 0)))
          ;; 2048 minus the bits of 1.5 * 2^23
          (v128.const i32x4 0xb4c00800 0xb4c00800 0xb4c00800 0xb4c00800))
        (i32.const 2)))
      (local.set $bin (i32x4.extract_lane 0 (local.get $x)))
      (i32.store (local.get $bin) (i32.add (i32.load (local.get $bin)) (i32.const 1)))
      (local.set $bin (i32x4.extract_lane 1 (local.get $x)))
      (i32.store offset=16384 (local.get $bin) (i32.add (i32.load offset=16384 (local.get $bin)) (i32.const 1)))
      (local.set $bin (i32x4.extract_lane 2 (local.get $x)))
      (i32.store offset=32768 (local.get $bin) (i32.add (i32.load offset=32768 (local.get $bin)) (i32.const 1)))
      (local.set $bin (i32x4.extract_lane 3 (local.get $x)))
      (i32.store offset=49152 (local.get $bin) (i32.add (i32.load offset=49152 (local.get $bin)) (i32.const 1)))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $bytes))))))
