import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders of `templates` that make up a project, by its name. */
const PARTS = {
  express: ['shared', 'html', 'express'],
  fastify: ['shared', 'html', 'fastify'],
  // Its pages are React components.
  next: ['shared', 'next'],
  nest: ['shared', 'html', 'nest'],
  koa: ['shared', 'html', 'koa'],
  hono: ['shared', 'html', 'hono'],
  sveltekit: ['shared', 'sveltekit'],
  nuxt: ['shared', 'html', 'nuxt'],
  'react-router': ['shared', 'react-router'],
} as const;

/** Templates in one language only. */
export const ONLY: Partial<Record<Template, 'JavaScript' | 'TypeScript'>> = {
  nest: 'TypeScript',
  koa: 'JavaScript',
  sveltekit: 'JavaScript',
  nuxt: 'JavaScript',
  'react-router': 'JavaScript',
};

export type Template = keyof typeof PARTS;

export const TEMPLATES = Object.keys(PARTS) as readonly Template[];

export const isTemplate = (name: string): name is Template => Object.hasOwn(PARTS, name);

export interface Project {
  readonly folder: string;
  readonly template: Template;
  /** Version or address of the package `parley`. */
  readonly parley: string;
  /** True for TypeScript instead of JavaScript. */
  readonly isTyped: boolean;
}

/** Development dependencies of a project in TypeScript. `tsx` runs it on each supported version of Node. */
const TYPED = { '@types/node': '^20.19.0', tsx: '^4.20.0', typescript: '>=5.8.0' };
const TYPES: Partial<Record<Template, Readonly<Record<string, string>>>> = {
  express: { '@types/express': '^5.0.0' },
  next: { '@types/react': '^19.1.0', '@types/react-dom': '^19.1.0' },
};

/**
 * Libraries with the permission to run install scripts. better-sqlite3 12, for older versions of Node, needs its script.
 * Version 13 contains its binaries, but package managers would run node-gyp, which needs Python.
 */
const allowed = { 'better-sqlite3': Number(process.versions.napi) < 10 };

const templates = fileURLToPath(new URL('../templates', import.meta.url));

/** Writes the files of a new project. Returns false, and writes nothing, if the folder contains anything. */
export function writeProject({ folder, template, parley, isTyped }: Project): boolean {
  if (existsSync(folder) && readdirSync(folder).length > 0) return false;
  for (const part of PARTS[template]) {
    const filter = (name: string): boolean => !isTyped || !/\.jsx?$/.test(name);
    cpSync(join(templates, part), folder, { recursive: true, filter });
    if (isTyped) cpSync(join(templates, 'typescript', part), folder, { recursive: true });
  }
  // npm leaves `.gitignore` out of packages.
  renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'));
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.name = packageName(basename(folder));
  manifest.dependencies.parley = parley;
  manifest.allowScripts = allowed;
  const lines = Object.entries(allowed).map(([library, isAllowed]) => `  ${library}: ${isAllowed}\n`);
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), `allowBuilds:\n${lines.join('')}`);
  if (isTyped) makeTyped(folder, template, manifest);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  return true;
}

interface Manifest {
  scripts: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Changes commands, dependencies and names of files. */
function makeTyped(folder: string, template: Template, manifest: Manifest): void {
  for (const [name, command] of Object.entries(manifest.scripts)) {
    manifest.scripts[name] = command.replace('node server.js', 'tsx server.ts');
  }
  manifest.scripts.typecheck = 'tsc';
  manifest.devDependencies = { ...TYPES[template], ...TYPED, ...manifest.devDependencies };
  const readme = join(folder, 'README.md');
  writeFileSync(readme, readFileSync(readme, 'utf8').replaceAll('.js`', '.ts`'));
}

/** Name that npm accepts. */
const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '') || 'my-chat';
