#!/usr/bin/env node
// Bundles the server into one file, since opening hundreds of modules would dominate its start time.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inlineSql } from '../../sqlite/scripts/inline-sql.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const bundleDir = join(dist, 'bundle');
const REQUIRES = 'createRequire(import.meta.url)';

const fromBundle = (path) => relative(bundleDir, path).replaceAll('\\', '/');

/** Resolves lazy `require` calls from the folder of their module instead of the bundle's. */
const requireFromModule = {
  name: 'require-from-module',
  setup({ onLoad, onResolve }) {
    // Native modules cannot be bundled.
    onResolve({ filter: /^(better-sqlite3|sharp)$/ }, ({ path, importer }) => ({
      path,
      namespace: 'native',
      pluginData: fromBundle(importer),
    }));
    onLoad({ filter: /.*/, namespace: 'native' }, ({ path, pluginData }) => ({
      contents: `import { createRequire } from 'node:module';
        export default createRequire(new URL('${pluginData}', import.meta.url))('${path}');`,
    }));
    onLoad({ filter: /[\\/]packages[\\/][\w-]+[\\/]dist[\\/].*\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (contents.replaceAll(REQUIRES, '').includes('import.meta')) {
        throw new Error(`${path} uses import.meta, which the bundle changes; only ${REQUIRES} is supported`);
      }
      return {
        contents: contents.replaceAll(REQUIRES, `createRequire(new URL('${fromBundle(path)}', import.meta.url))`),
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
  // Code behind `import()` stays in separate files, which are not read at start.
  splitting: true,
  chunkNames: 'chunk-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [inlineSql, requireFromModule],
  // Bundled CommonJS packages require Node's built-in modules.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);",
  },
  // For `node --enable-source-maps`.
  sourcemap: 'linked',
  sourcesContent: false,
  // V8 keeps the source for the lifetime of the process, so comments are removed. Short lines keep stack traces readable.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  legalComments: 'linked',
  logLevel: 'warning',
});
await mkdir(bundleDir, { recursive: true });
const outputs = new Map(outputFiles.map((output) => [basename(output.path), output]));
for (const name of loadedAtStart('main.js')) {
  // V8 stores a source with one non-Latin-1 character in two bytes per character.
  const wide = outputs.get(name).text.match(/.{0,40}[^\0-\x7f].{0,20}/u);
  if (wide) throw new Error(`Escape non-ASCII characters in the sources: ${wide[0]}`);
}
for (const { path, contents } of outputFiles) {
  // Renaming prevents a server from reading a partial file.
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}
for (const name of await readdir(bundleDir)) {
  if (name.startsWith('chunk-') && !outputs.has(name)) await rm(join(bundleDir, name));
}

/** Returns the names of a file and of its static imports, recursively. */
function loadedAtStart(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const [, { imports }] = Object.entries(metafile.outputs).find(([path]) => basename(path) === name);
  for (const { path, kind, external } of imports) {
    if (kind === 'import-statement' && !external) loadedAtStart(basename(path), found);
  }
  return found;
}
