"""Makes nine detectors as Ultralytics exports them, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx onnxruntime transformers ultralytics
    python bench/peers/make_yolo_nets.py --out yolo-nets --seed 31

Random weights and live BatchNorm statistics, a batch of one, images of 320 x 320. Writes NAME.onnx, three disjoint sets of samples and
cases.json, the list that compare.py takes. What has no labels is compared with the float model.
"""

import shutil
import warnings

import torch
from cases import COUNTS, add_unlabelled, folder_and_seed
from make_timm_nets import without_torchvision_kernels
from make_varied_nets import images, with_random_scales
from random_nets import live

NETS = ["yolov3-tiny", "yolov5n", "yolov6n", "yolov8n-pose", "yolov9t", "yolov10n", "yolo11n-seg", "yolo12n", "yolo26n"]
SIZE = 320


def main():
    options = folder_and_seed(31)
    without_torchvision_kernels()
    warnings.filterwarnings("ignore")
    from ultralytics import YOLO

    samples = images(SIZE, "images")
    for index, name in enumerate(NETS):
        torch.manual_seed(options.seed + index)
        rng = torch.Generator().manual_seed(1000 * options.seed + index)
        net = YOLO(f"{name}.yaml")
        live(with_random_scales(net.model), [tuple(samples(8, rng).values())])
        net.model.eval()
        shutil.move(net.export(format="onnx", imgsz=SIZE, simplify=False, device="cpu", verbose=False), options.out / f"{name}.onnx")
        sets = {use: {key: value.numpy() for key, value in samples(count, rng).items()} for use, count in COUNTS.items()}
        add_unlabelled(options.out, name, "cnn", sets)
        print(name, flush=True)


if __name__ == "__main__":
    main()
