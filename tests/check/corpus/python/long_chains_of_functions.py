"""A value is followed through many functions, whatever their order, and passed on as soon as it is known."""

import torch


class Chain:
    def s24(self):
        self.a24 = self.a23

    def s23(self):
        self.a23 = self.a22

    def s22(self):
        self.a22 = self.a21

    def s21(self):
        self.a21 = self.a20

    def s20(self):
        self.a20 = self.a19

    def s19(self):
        self.a19 = self.a18

    def s18(self):
        self.a18 = self.a17

    def s17(self):
        self.a17 = self.a16

    def s16(self):
        self.a16 = self.a15

    def s15(self):
        self.a15 = self.a14

    def s14(self):
        self.a14 = self.a13

    def s13(self):
        self.a13 = self.a12

    def s12(self):
        self.a12 = self.a11

    def s11(self):
        self.a11 = self.a10

    def s10(self):
        self.a10 = self.a9

    def s9(self):
        self.a9 = self.a8

    def s8(self):
        self.a8 = self.a7

    def s7(self):
        self.a7 = self.a6

    def s6(self):
        self.a6 = self.a5

    def s5(self):
        self.a5 = self.a4

    def s4(self):
        self.a4 = self.a3

    def s3(self):
        self.a3 = self.a2

    def s2(self):
        self.a2 = self.a1

    def s1(self):
        self.a1 = self.a0

    def s0(self):
        self.a0 = torch.ones(1, device="cuda")

    def read(self):
        host(self.a0.cpu, self.a1.cpu, self.a2.cpu, self.a3.cpu)
        host(self.a4.cpu, self.a5.cpu, self.a6.cpu, self.a7.cpu)
        host(self.a8.cpu, self.a9.cpu, self.a10.cpu, self.a11.cpu)
        host(self.a12.cpu, self.a13.cpu, self.a14.cpu, self.a15.cpu)
        host(self.a16.cpu, self.a17.cpu, self.a18.cpu, self.a19.cpu)
        host(self.a20.cpu, self.a21.cpu, self.a22.cpu, self.a23.cpu)
        return deep(self.a24)


def host(*methods):
    return methods


def deep(t):
    return deeper(t)


def deeper(t):
    return t.item()  # expect: SYN101
