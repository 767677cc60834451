#!/usr/bin/env node
// Joins what the server consists of into one file: opening five hundred of them took most of the time it needed to start.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inlineSql } from '../../sqlite/scripts/inline-sql.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const bundleDir = join(dist, 'bundle');
const REQUIRES = 'createRequire(import.meta.url)';

const placeOf = (path) => relative(bundleDir, path).replaceAll('\\', '/');

/** What a module requires by name when it is first needed is looked for where that module is, not where the bundle is. */
const requireFromModule = {
  name: 'require-from-module',
  setup({ onLoad, onResolve }) {
    // Native, so not to be joined.
    onResolve({ filter: /^(better-sqlite3|sharp)$/ }, ({ path, importer }) => ({
      path,
      namespace: 'native',
      pluginData: placeOf(importer),
    }));
    onLoad({ filter: /.*/, namespace: 'native' }, ({ path, pluginData }) => ({
      contents: `import { createRequire } from 'node:module';
        export default createRequire(new URL('${pluginData}', import.meta.url))('${path}');`,
    }));
    onLoad({ filter: /[\\/]packages[\\/][\w-]+[\\/]dist[\\/].*\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (contents.replaceAll(REQUIRES, '').includes('import.meta')) {
        throw new Error(`${path} would take the bundle for itself; only ${REQUIRES} is understood`);
      }
      return {
        contents: contents.replaceAll(REQUIRES, `createRequire(new URL('${placeOf(path)}', import.meta.url))`),
      };
    });
  },
};

const { metafile, outputFiles } = await build({
  entryPoints: [join(dist, 'main.js')],
  outdir: bundleDir,
  write: false,
  metafile: true,
  bundle: true,
  // Code behind `import()` stays in files of its own, which a start does not read.
  splitting: true,
  chunkNames: 'chunk-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [inlineSql, requireFromModule],
  // CommonJS packages in it require Node's own modules.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);",
  },
  // For `node --enable-source-maps`.
  sourcemap: 'linked',
  sourcesContent: false,
  // V8 keeps the text as long as the process lives, so comments stay outside; short lines are for stack traces.
  minifyWhitespace: true,
  lineLimit: 200,
  legalComments: 'linked',
  logLevel: 'warning',
});
await mkdir(bundleDir, { recursive: true });
const outputs = new Map(outputFiles.map((output) => [basename(output.path), output]));
for (const name of loadedAtStart('main.js')) {
  // V8 stores a text with one such letter in two bytes per letter.
  const wide = outputs.get(name).text.match(/.{0,40}[^\0-\x7f].{0,20}/u);
  if (wide) throw new Error(`Escape what is not ASCII in the sources: ${wide[0]}`);
}
for (const { path, contents } of outputFiles) {
  // Half a file must never be taken for a whole one.
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}
for (const name of await readdir(bundleDir)) {
  if (name.startsWith('chunk-') && !outputs.has(name)) await rm(join(bundleDir, name));
}

/** Names of a file and of those that it imports statically. */
function loadedAtStart(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const [, { imports }] = Object.entries(metafile.outputs).find(([path]) => basename(path) === name);
  for (const { path, kind, external } of imports) {
    if (kind === 'import-statement' && !external) loadedAtStart(basename(path), found);
  }
  return found;
}
