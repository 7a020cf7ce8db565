// Package symbol finds the functions that addresses of a recording belong to, from the files that a user gives beside
// it: kallsyms and System.map for the kernel, ELF objects with their symbol tables and DWARF, build-id caches, archives
// of `perf archive`, and the maps that run-times write for the code that they make. Objects are told by their build ids
// where these are known, by their paths otherwise.
package symbol
