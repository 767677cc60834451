#!/usr/bin/env node
// Prepares the repository, then runs a command. Installs a newer Node if this one is too old.
//
//   run.mjs PREPARATION[,FOLDER]… COMMAND [ARGUMENT]…
//
//   node     only Node
//   install  libraries of the product, its build and `npm test`, and the tools of the folders
//   types    … and generated sources
//   demo     … and the product, with an uncompressed web client
//   product  … and the compressed web client
//   tools    … and all programs of the repository
//
// COMMAND is a script of the repository, `parley`, or a program of a library.
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { continueOnNewNode, runAndExit } from './node.mjs';
import { PARLEY, prepare, root } from './prepare.mjs';

await continueOnNewNode();
const [what = '', command = '', ...args] = process.argv.slice(2);
const [preparation, ...toolFolders] = what.split(',');
try {
  prepare(preparation, toolFolders);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const programs = ['.', 'packages/testing'].map((folder) => join(root, folder, 'node_modules', '.bin'));
process.env.PATH = [...programs, process.env.PATH].join(delimiter);
if (command === '') process.exit();
if (command === 'parley') {
  // The server runs commands, such as imports, by the file in argv[1].
  process.argv = [process.execPath, PARLEY, ...args];
  await import(pathToFileURL(PARLEY));
} else if (/\.m?js$/.test(command)) await runAndExit(process.execPath, [command, ...args]);
else await runAndExit(command, args);
