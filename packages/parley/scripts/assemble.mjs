#!/usr/bin/env node
// Assembles the package that applications install: all of @parley/* in one, so that there is one copy of the domain.
// Libraries remain dependencies, except BUNDLED. Argument: target folder; default: dist/package.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { build as vite } from 'vite';
import { inlineSql } from '../../adapters/sqlite/scripts/inline-sql.mjs';
import { packageFolders } from '../../server/scripts/package-folders.mjs';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const root = join(home, '..', '..');
const folders = packageFolders(root);
/** Returns the path of a file named by its package: `http/dist/index.js`. */
const pathOf = (file) => file.replace(/^[^/]+/, (name) => folders.get(name));
const out = resolve(process.argv[2] ?? join(home, 'dist', 'package'));
const read = (file) => readFileSync(pathOf(file), 'utf8');
const manifestOf = (name) => JSON.parse(read(`${name}/package.json`));

/** Areas of the domain; each is an entry. */
const areas = readdirSync(pathOf('domain/src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
/** Emoji fonts with a licence that requires a notice. */
const FONTS = join(root, 'node_modules', '@infolektuell/noto-color-emoji');
/** Licences of icons and of emoji names, which are files of the web client. */
const LICENCES_OF_DATA = pathOf('web/licences');

/** React components, one file for each subpath of `parley/web`. */
const parts = readdirSync(pathOf('web/src/components')).map((file) => file.replace(/\.tsx?$/, ''));
const ENTRIES = {
  index: 'parley/dist/index',
  testing: 'parley/dist/testing/index',
  simulation: 'parley/dist/simulation/index',
  // Built separately, without chunks, since browsers load it as well.
  client: 'client/dist/index',
  chat: 'chat/dist/index',
  'chat-signals': 'chat/dist/signals',
  // Only types; Vite builds the code.
  ...Object.fromEntries(parts.map((name) => [`web-${name}`, `web/dist/types/components/${name}`])),
  // The command line.
  main: 'parley/dist/main',
  // Entry points of threads and child processes, started by file name from code in any chunk of the same folder.
  thread: 'markdown/dist/typesetting/thread',
  'image-child': 'images/dist/image-child',
  'mail-thread': 'node-adapters/dist/mail-thread',
  ...Object.fromEntries(areas.map((name) => [`domain-${name}`, `domain/dist/${name}/index`])),
  // Records that applications import.
  'domain-imports': 'transfer/dist/records/index',
};

/** Libraries of which a small part is used, or whose dependencies are large and unused (docs/dependencies.md). */
const BUNDLED = new Set([
  '@preact/signals-core',
  '@simplewebauthn/server',
  '@tus/server',
  'bson',
  'class-transformer',
  'class-validator',
  'csv-parse',
  'inversify',
  'lru-cache',
  'markdown-it',
  'otplib',
  'parse5',
  'pofile',
  'prom-client',
  'reflect-metadata',
  'tar-stream',
]);

rmSync(out, { recursive: true, force: true });
const webTypes = pathOf('web/tsconfig.components.json');
execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', webTypes], {
  stdio: 'inherit',
});
await buildComponents();
const dependencies = await writeCode();
writeTypes();
writeManifest(dependencies);
for (const [from, to] of [
  [join(root, 'LICENSE'), 'LICENSE'],
  [pathOf('parley/README.md'), 'README.md'],
  [join(root, 'docs'), 'docs'],
  [pathOf('web/dist/app'), 'dist/web'],
  [pathOf('http/texts'), 'texts'],
]) {
  cpSync(from, join(out, to), { recursive: true });
}
console.error(`The package is in ${relative(process.cwd(), out)}`);

/** Builds the React components with style sheet and fonts, separately from the application. */
async function buildComponents() {
  const web = pathOf('web');
  const outDir = join(out, 'dist', 'components');
  await vite({
    root: web,
    configFile: join(web, 'vite.config.ts'),
    mode: 'components',
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true },
  });
  // Older KaTeX font formats, which browsers that run the components never load.
  for (const name of readdirSync(outDir)) if (/\.(ttf|woff)$/.test(name)) rmSync(join(outDir, name));
  const sheet = join(outDir, 'style.css');
  const css = readFileSync(sheet, 'utf8').replaceAll(/,url\([^)]*\.(?:ttf|woff)\)format\("\w+"\)/g, '');
  writeFileSync(sheet, css);
}

/** Returns the names of the dependencies. */
async function writeCode() {
  const { client, chat, 'chat-signals': signals, ...entries } = ENTRIES;
  const others = Object.fromEntries(Object.entries(entries).filter(([name]) => !name.startsWith('web-')));
  // First import of every file. CommonJS libraries require Node's own modules.
  const js =
    "import './node-version.js'; import './loaded-by-name.js'; import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);";
  const builds = [
    await buildEntries(others, { splitting: true, banner: { js }, inject: [join(home, 'scripts', 'own-timers.js')] }),
    await buildEntries({ client }, { legalComments: 'none' }),
    // The components use the signals of the state.
    await buildEntries({ chat, 'chat-signals': signals }, { legalComments: 'none', splitting: true }),
  ];
  const outputs = Object.assign({}, ...builds.map(({ metafile }) => metafile.outputs));
  mkdirSync(join(out, 'dist'), { recursive: true });
  for (const name of ['node-version.js', 'loaded-by-name.js'])
    cpSync(join(home, 'scripts', name), join(out, 'dist', name));
  writeLicences([...Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)), FONTS]);
  const foreign = new Set();
  for (const { path, text } of builds.flatMap(({ outputFiles }) => outputFiles)) {
    writeFileSync(path, text);
    // Packages that the code requires by name on first use.
    for (const [, name] of text.matchAll(/\brequire\d*\("([^."][^"]*)"\)/g)) foreign.add(nameOf(name));
  }
  for (const { imports } of Object.values(outputs)) {
    for (const { path, external, kind } of imports) {
      // `require` of CommonJS libraries that try optional dependencies.
      if (external && kind !== 'require-call' && !path.startsWith('.')) foreign.add(nameOf(path));
    }
  }
  return [...foreign].filter((name) => !isBuiltin(name));
}

function buildEntries(entries, options) {
  return build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, pathOf(`${path}.js`)])),
    outdir: join(out, 'dist'),
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Unused decorators of class-validator bring a library of telephone numbers with them.
    mainFields: ['module', 'main'],
    chunkNames: 'chunk-[hash]',
    logLevel: 'warning',
    plugins: [
      inlineSql,
      {
        name: 'exclude-libraries',
        setup({ onResolve, initialOptions }) {
          // Keeps one error class, whichever entry is imported.
          onResolve({ filter: /^@parley\/client$/ }, () =>
            'chat' in initialOptions.entryPoints ? { path: './client.js', external: true } : undefined,
          );
          // The simulation uses the client state of the package, instead of a copy.
          onResolve({ filter: /^@parley\/chat$/ }, () =>
            'simulation' in initialOptions.entryPoints ? { path: './chat.js', external: true } : undefined,
          );
          onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) =>
            kind === 'entry-point' ||
            path.startsWith('@parley/') ||
            BUNDLED.has(nameOf(path)) ||
            // Only their own dependencies; the tracing library must exist once per application.
            (importer.includes('/node_modules/') && path !== '@opentelemetry/api')
              ? undefined
              : { path, external: true },
          );
        },
      },
    ],
    ...options,
  });
}

/** Licences of bundled libraries require a copy of their text. */
function writeLicences(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `License: ${license}`;
    return `${name} ${version}\n\n${text}\n`;
  });
  const dataTexts = readdirSync(LICENCES_OF_DATA).map((name) => readFileSync(join(LICENCES_OF_DATA, name), 'utf8'));
  writeFileSync(join(out, 'LICENSES-OF-LIBRARIES.txt'), [...texts, ...dataTexts].join(`\n${'-'.repeat(80)}\n\n`));
}

function nameOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Writes the declarations reachable from the entries, with paths instead of package names. */
function writeTypes() {
  const seen = new Set();
  const open = Object.entries(ENTRIES).flatMap(([name, path]) =>
    ['main', 'thread', 'image-child', 'chat-signals'].includes(name) ? [] : [`${path}.d.ts`],
  );
  while (open.length > 0) {
    const file = open.pop();
    if (seen.has(file)) continue;
    seen.add(file);
    const reach = (target) => {
      open.push(target);
      const path = posix.relative(posix.dirname(outputPathOf(file)), outputPathOf(target)).replace(/\.d\.ts$/, '.js');
      return path.startsWith('.') ? path : `./${path}`;
    };
    const target = join(out, 'dist', 'types', outputPathOf(file));
    mkdirSync(dirname(target), { recursive: true });
    const text = rewrite(file, read(file).replace(/^\/\/# sourceMappingURL=.*$/m, ''), reach);
    // Node's types are included regardless of the application's `types` option. Areas augment each other's types, so an entry
    // imports all of them.
    const preamble = file.startsWith('parley/')
      ? [
          '/// <reference types="node" />',
          ...areas.map((name) => `import '${reach(`domain/dist/${name}/index.d.ts`)}';`),
          '',
        ].join('\n')
      : '';
    writeFileSync(target, preamble + text);
  }
}

/** Returns `http/kernel/mount.d.ts` for `http/dist/kernel/mount.d.ts`. */
function outputPathOf(file) {
  return file.replace('/dist/', '/');
}

function rewrite(file, text, reach) {
  // Libraries imported for their side effects declare no types here.
  return text
    .replace(/^import '(?:(?!\.|@parley\/)[^']+|[^']+\.css)';\n/gm, '')
    .replace(
      /^(import|export) (type )?\{([^}]*)\} from '(@parley\/[^']+)';$/gm,
      (_, verb, type = '', names, specifier) =>
        byOrigin(names, specifier)
          .map(([origin, some]) => `${verb} ${type}{ ${some.join(', ')} } from '${reach(origin)}';`)
          .join('\n'),
    )
    .replace(/(from |import |import\(|declare module )'([^']+)'/g, (whole, keyword, specifier) => {
      if (specifier.startsWith('@parley/')) return `${keyword}'${reach(indexOf(specifier))}'`;
      if (specifier.startsWith('.')) {
        const target = posix.join(posix.dirname(file), specifier.replace(/\.js$/, '.d.ts'));
        // Paths written above already point into the output.
        if (existsSync(pathOf(target))) reach(target);
        return whole;
      }
      // Applications that use the components have React, or Vue for the element's types.
      if (!specifier.startsWith('node:') && !/^(react|vue)(\/|$)/.test(specifier)) {
        throw new Error(`${file} imports types of ${specifier}, which an application need not have`);
      }
      return whole;
    });
}

/** Maps imported names to declaration files: a whole area of the domain or of transfer, or the single file that declares the name. */
function byOrigin(names, specifier) {
  const index = indexOf(specifier);
  const wanted = names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (/^@parley\/(domain|transfer)\//.test(specifier) || /^@parley\/(chat|client)$/.test(specifier))
    return [[index, wanted]];
  const origins = new Map();
  for (const name of wanted) {
    const origin = originOf(
      index,
      name
        .replace(/^type /, '')
        .split(' as ')[0]
        .trim(),
    );
    origins.set(origin, [...(origins.get(origin) ?? []), name]);
  }
  return [...origins];
}

function originOf(index, name) {
  for (const [, names, path] of read(index).matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)';$/gm)) {
    const offered = names.split(',').map((each) => each.trim().replace(/^type /, ''));
    if (offered.includes(name)) return posix.join(posix.dirname(index), path.replace(/\.js$/, '.d.ts'));
  }
  for (const [, path] of read(index).matchAll(/^export \* from '(\.[^']+)';$/gm)) {
    const origin = posix.join(posix.dirname(index), path.replace(/\.js$/, '.d.ts'));
    if (new RegExp(`^export (?:declare )?(?:abstract )?\\w+ ${name}\\b`, 'm').test(read(origin))) return origin;
  }
  throw new Error(`${index} does not export ${name}`);
}

function indexOf(specifier) {
  const [, name, ...subpath] = specifier.split('/');
  return [name, 'dist', ...subpath, 'index.d.ts'].join('/');
}

function writeManifest(foreign) {
  const { name, version, description, license, type } = manifestOf('parley');
  const manifests = [...folders.keys()].map(manifestOf);
  // Applications install these libraries only for the features they use (docs/dependencies.md).
  const optional = Object.assign({}, ...manifests.map(({ optionalDependencies }) => optionalDependencies));
  const versions = Object.assign({ ...optional }, ...manifests.map(({ dependencies }) => dependencies));
  const unknown = foreign.filter((each) => versions[each] === undefined);
  if (unknown.length > 0) throw new Error(`No package declares ${unknown.join(', ')}`);
  // The declarations refer to Node types, which TypeScript applications have.
  const peerDependencies = { '@types/node': '*', react: '>=19', 'react-dom': '>=19', ...optional };
  const exports = {
    '.': { types: './dist/types/parley/index.d.ts', default: './dist/index.js' },
    './simulation': { types: './dist/types/parley/simulation/index.d.ts', default: './dist/simulation.js' },
    './testing': { types: './dist/types/parley/testing/index.d.ts', default: './dist/testing.js' },
    './client': { types: './dist/types/client/index.d.ts', default: './dist/client.js' },
    './chat': { types: './dist/types/chat/index.d.ts', default: './dist/chat.js' },
    ...Object.fromEntries(
      parts.map((name) => [
        name === 'index' ? './web' : `./web/${name}`,
        { types: `./dist/types/web/types/components/${name}.d.ts`, default: `./dist/components/${name}.js` },
      ]),
    ),
    './web/style.css': './dist/components/style.css',
    './domain/imports': { types: './dist/types/transfer/records/index.d.ts', default: './dist/domain-imports.js' },
    './domain/*': { types: './dist/types/domain/*/index.d.ts', default: './dist/domain-*.js' },
    './package.json': './package.json',
  };
  // TypeScript with `module: commonjs` reads no `exports`.
  const typesVersions = Object.fromEntries(
    Object.entries(exports).flatMap(([path, { types }]) =>
      types === undefined || path === '.' ? [] : [[path.slice(2), [types]]],
    ),
  );
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    engines: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines,
    exports,
    types: exports['.'].types,
    typesVersions: { '*': typesVersions },
    bin: { parley: 'dist/main.js' },
    imports: manifestOf('http').imports,
    files: ['dist', 'docs', 'texts', 'LICENSES-OF-LIBRARIES.txt'],
    dependencies: Object.fromEntries(
      foreign
        .filter((each) => !(each in optional))
        .sort()
        .map((each) => [each, versions[each]]),
    ),
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peerDependencies).map((each) => [each, { optional: true }])),
  };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
