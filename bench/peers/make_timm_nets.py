"""Makes twelve image classifiers of timm, with data, from one seed; compare.py judges tools on them.

    pip install torch onnx onnxruntime transformers timm
    python bench/peers/make_timm_nets.py --out timm-nets --seed 701

Random weights and live BatchNorm statistics, each with a free batch. Writes NAME.onnx, three disjoint sets of samples and cases.json,
the list that compare.py takes. What has no labels is compared with the float model.
"""


import torch
from cases import folder_and_seed
from make_line_nets import write_nets
from make_varied_nets import images


def without_torchvision_kernels():
    """torchvision of another build than torch declares kernels that are not there: nets of timm need none of them."""
    register = torch.library.register_fake

    def known(op, *args, **kwargs):
        try:
            torch._C._dispatch_has_kernel_for_dispatch_key(op, "Meta")
        except RuntimeError:
            return lambda function: function
        return register(op, *args, **kwargs)

    torch.library.register_fake = known


# Name: size of the image.
NETS = {
    "fastvit_t8": 128,
    "visformer_tiny": 224,
    "xcit_nano_12_p16_224": 224,
    "edgenext_xx_small": 128,
    "skresnet18": 128,
    "resnest14d": 128,
    "nf_resnet26": 128,
    "rexnet_100": 128,
    "mixnet_s": 128,
    "repvit_m0_9": 128,
    "poolformerv2_s12": 128,
    "efficientvit_b0": 128,
}


def with_some_head(net):
    """Some are made with a last layer of zeros, which answers nothing."""
    for module in net.modules():
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight, std=0.05)
    return net


def main():
    options = folder_and_seed(701)
    without_torchvision_kernels()
    import timm

    def of(name):
        return lambda: with_some_head(timm.create_model(name, num_classes=100))

    write_nets([(name, of(name), images(size, "x"), 17, "cnn") for name, size in NETS.items()], options.out, options.seed)


if __name__ == "__main__":
    main()
