#!/usr/bin/env node
// Bundles the sources of the server into a few scripts, since opening hundreds of modules would dominate its start time. A
// V8 code cache per startup script saves a quarter of the remaining time.
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { inlineSql } from '../../adapters/sqlite/scripts/inline-sql.mjs';
import { sourcesOf } from './sources.mjs';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const bundleDir = join(home, 'dist', 'bundle');
const sources = sourcesOf(join(home, '..', '..'));
const sourceOf = (name, ...path) => join(sources.alias[`@parley/${name}`], ...path);
/** Scripts of threads and child processes, which the bundled code finds beside itself. */
const SCRIPTS = [
  sourceOf('markdown', 'typesetting', 'thread.ts'),
  sourceOf('images', 'image-child.ts'),
  sourceOf('node-adapters', 'mail-thread.ts'),
];
/** Calls relative to a module. Scripts are in the folder of the bundle instead. */
const REQUIRES = /createRequire\(import\.meta\.url\)(?!\.resolve\('\.\/)/g;
const SCRIPT = /createRequire\(import\.meta\.url\)\.resolve\('\.\//g;

const fromBundle = (path) => relative(bundleDir, path).replaceAll('\\', '/');

/** Resolves lazy `require` calls relative to their original module, not the bundle. */
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
    onLoad({ filter: /[\\/]packages[\\/](?:[\w-]+[\\/]){1,2}src[\\/].*\.ts$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (contents.replaceAll(REQUIRES, '').replaceAll(SCRIPT, '').includes('import.meta')) {
        throw new Error(`${path} uses import.meta, which the bundle changes, without createRequire`);
      }
      return {
        loader: 'ts',
        contents: contents.replaceAll(REQUIRES, `createRequire(new URL('${fromBundle(path)}', import.meta.url))`),
      };
    });
  },
};

const shared = {
  outdir: bundleDir,
  write: false,
  bundle: true,
  // The default entries are CommonJS, which would load unused validators and a library of telephone numbers at each start.
  absWorkingDir: import.meta.dirname,
  ...sources,
  alias: {
    ...sources.alias,
    'class-validator': 'class-validator/esm2015/index.js',
    'class-transformer': 'class-transformer/esm2015/index.js',
  },
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [inlineSql, requireFromModule],
  // V8 keeps the source for the lifetime of the process, so comments are removed. Short lines keep stack traces readable.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  legalComments: 'linked',
  logLevel: 'warning',
};

const { metafile, outputFiles } = await build({
  ...shared,
  entryPoints: [sourceOf('server', 'main.ts')],
  metafile: true,
  // Code behind `import()` stays in separate files, which are not read at start.
  splitting: true,
  entryNames: '[name]-[hash]',
  chunkNames: 'chunk-[hash]',
  outExtension: { '.js': '.cjs' },
  // For `node --enable-source-maps`.
  sourcemap: 'inline',
  sourcesContent: false,
});
const scripts = await build({
  ...shared,
  entryPoints: SCRIPTS,
  entryNames: '[name]',
  // CommonJS libraries require Node's own modules.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);",
  },
});
/** Named imports as esbuild writes them. */
const IMPORTS = /(?<=^|;)import\{([^}]*)\}from"([^"]*)";/gm;

const files = new Map(scripts.outputFiles.map(({ path, text }) => [basename(path), text]));
for (const { path, text } of outputFiles) {
  const name = basename(path);
  if (name.endsWith('.cjs')) await addScript(name, text);
  else files.set(name, text);
}
const main = [...files.keys()].find((name) => /^main-.*\.cjs$/.test(name));
for (const name of loadedAtStart(main)) {
  // V8 stores a source with one non-Latin-1 character in two bytes per character. esbuild escapes strings, but not
  // regular expressions, in which code units have the same escapes.
  const escaped = files
    .get(name)
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  files.set(name, escaped);
}
const loader = await readFile(join(import.meta.dirname, 'load-bundle.mjs'), 'utf8');
files.set('main.js', loader.replace('./main.cjs', `./${main}`));

await mkdir(bundleDir, { recursive: true });
for (const [name, contents] of files) {
  const path = join(bundleDir, name);
  // Renaming prevents a server from reading a partial file.
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}
for (const name of await readdir(bundleDir)) if (!files.has(name)) await rm(join(bundleDir, name));
const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'write-caches.mjs'), join(bundleDir, main)], {
  stdio: ['ignore', 2, 2],
});
if (status !== 0) throw new Error('The bundled server did not start');

/** Adds an ES module as CommonJS. Node accepts V8 caches only for scripts, and esbuild splits only ES modules. */
async function addScript(name, text) {
  // Constants instead of a getter per access, which V8 does not inline. No module changes its exports after its start.
  const module = text
    .replace(/^#!.*/, '')
    .replace(IMPORTS, (_, names, path) => `const{${names.replaceAll(' as ', ':')}}=require("${path}");`);
  const { code, map } = await transform(module, {
    format: 'cjs',
    target: 'node20',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '$url' },
    banner: "const $url=require('node:url').pathToFileURL(__filename).href;",
    sourcemap: 'external',
    sourcesContent: false,
    sourcefile: name,
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    legalComments: 'inline',
  });
  files.set(name, `${code}//# sourceMappingURL=${name}.map\n`);
  files.set(`${name}.map`, map);
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
