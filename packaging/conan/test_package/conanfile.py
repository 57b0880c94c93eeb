# SPDX-License-Identifier: Apache-2.0
"""A program of its own, linked with the package, runs; and the command, with
the programs that it executes, if the package has it."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class Test(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain", "VirtualRunEnv"
    test_type = "explicit"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            program = os.path.join(self.cpp.build.bindir, "consumer")
            store = os.path.join(self.build_folder, "store")
            self.run(f"{program} 'file:{store}?max_size=4M'", env="conanrun")
            if self.dependencies["holdfast"].options.command:
                self.run(f"holdfast --store file:{store} top --once",
                         env="conanrun")
