#include "noam/cli/program.h"

int main(int argc, char** argv) { return noam::cli::run(argc, argv); }
