#!/usr/bin/env node
// Joins what the server consists of into one file: opening five hundred of them took most of the time it needed to start.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
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

const { outputFiles } = await build({
  entryPoints: [join(dist, 'main.js')],
  outdir: bundleDir,
  write: false,
  bundle: true,
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
// One such letter, as in a regular expression or a tagged template, and V8 takes two bytes for every letter of the text.
const wide = outputFiles.find(({ path }) => path.endsWith('.js')).text.match(/.{0,40}[^\0-\x7f].{0,20}/u);
if (wide) throw new Error(`Escape what is not ASCII in the sources: ${wide[0]}`);
await mkdir(bundleDir, { recursive: true });
for (const { path, contents } of outputFiles) {
  // Half a file must never be taken for a whole one.
  await writeFile(`${path}.new`, contents);
  await rename(`${path}.new`, path);
}
