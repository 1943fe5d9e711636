"""A value is followed however many functions, written in whatever order, hand it on."""

import torch


# fmt: off
class Chain:
    def s60(self): self.a60 = self.a59
    def s59(self): self.a59 = self.a58
    def s58(self): self.a58 = self.a57
    def s57(self): self.a57 = self.a56
    def s56(self): self.a56 = self.a55
    def s55(self): self.a55 = self.a54
    def s54(self): self.a54 = self.a53
    def s53(self): self.a53 = self.a52
    def s52(self): self.a52 = self.a51
    def s51(self): self.a51 = self.a50
    def s50(self): self.a50 = self.a49
    def s49(self): self.a49 = self.a48
    def s48(self): self.a48 = self.a47
    def s47(self): self.a47 = self.a46
    def s46(self): self.a46 = self.a45
    def s45(self): self.a45 = self.a44
    def s44(self): self.a44 = self.a43
    def s43(self): self.a43 = self.a42
    def s42(self): self.a42 = self.a41
    def s41(self): self.a41 = self.a40
    def s40(self): self.a40 = self.a39
    def s39(self): self.a39 = self.a38
    def s38(self): self.a38 = self.a37
    def s37(self): self.a37 = self.a36
    def s36(self): self.a36 = self.a35
    def s35(self): self.a35 = self.a34
    def s34(self): self.a34 = self.a33
    def s33(self): self.a33 = self.a32
    def s32(self): self.a32 = self.a31
    def s31(self): self.a31 = self.a30
    def s30(self): self.a30 = self.a29
    def s29(self): self.a29 = self.a28
    def s28(self): self.a28 = self.a27
    def s27(self): self.a27 = self.a26
    def s26(self): self.a26 = self.a25
    def s25(self): self.a25 = self.a24
    def s24(self): self.a24 = self.a23
    def s23(self): self.a23 = self.a22
    def s22(self): self.a22 = self.a21
    def s21(self): self.a21 = self.a20
    def s20(self): self.a20 = self.a19
    def s19(self): self.a19 = self.a18
    def s18(self): self.a18 = self.a17
    def s17(self): self.a17 = self.a16
    def s16(self): self.a16 = self.a15
    def s15(self): self.a15 = self.a14
    def s14(self): self.a14 = self.a13
    def s13(self): self.a13 = self.a12
    def s12(self): self.a12 = self.a11
    def s11(self): self.a11 = self.a10
    def s10(self): self.a10 = self.a9
    def s9(self): self.a9 = self.a8
    def s8(self): self.a8 = self.a7
    def s7(self): self.a7 = self.a6
    def s6(self): self.a6 = self.a5
    def s5(self): self.a5 = self.a4
    def s4(self): self.a4 = self.a3
    def s3(self): self.a3 = self.a2
    def s2(self): self.a2 = self.a1
    def s1(self): self.a1 = self.a0
    def s0(self): self.a0 = torch.ones(1, device="cuda")
    def read(self):
        host(self.a0, self.a1, self.a2, self.a3, self.a4, self.a5, self.a6, self.a7, self.a8, self.a9, self.a10, self.a11)
        host(self.a12, self.a13, self.a14, self.a15, self.a16, self.a17, self.a18, self.a19, self.a20, self.a21, self.a22, self.a23)
        host(self.a24, self.a25, self.a26, self.a27, self.a28, self.a29, self.a30, self.a31, self.a32, self.a33, self.a34, self.a35)
        host(self.a36, self.a37, self.a38, self.a39, self.a40, self.a41, self.a42, self.a43, self.a44, self.a45, self.a46, self.a47)
        host(self.a48, self.a49, self.a50, self.a51, self.a52, self.a53, self.a54, self.a55, self.a56, self.a57, self.a58, self.a59)
        self.a60.item()  # expect: SYN101
        return deep(self.a60)
# fmt: on


def host(*tensors):
    return len(tensors)


def deep(t):
    return t.item()  # expect: SYN101
