import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders of `templates` that make up a project, by its name. */
const PARTS = {
  express: ['shared', 'html', 'express'],
  fastify: ['shared', 'html', 'fastify'],
  // Its pages are React components.
  next: ['shared', 'next'],
} as const;

export type Template = keyof typeof PARTS;

export const TEMPLATES = Object.keys(PARTS) as readonly Template[];

export const isTemplate = (name: string): name is Template => Object.hasOwn(PARTS, name);

export interface Project {
  readonly folder: string;
  readonly template: Template;
  /** Version or address of the package `parley`. */
  readonly parley: string;
}

const templates = fileURLToPath(new URL('../templates', import.meta.url));

/** Writes the files of a new project. Returns false, and writes nothing, if the folder contains anything. */
export function writeProject({ folder, template, parley }: Project): boolean {
  if (existsSync(folder) && readdirSync(folder).length > 0) return false;
  for (const part of PARTS[template]) cpSync(join(templates, part), folder, { recursive: true });
  // npm leaves `.gitignore` out of packages.
  renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'));
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.name = packageName(basename(folder));
  manifest.dependencies.parley = parley;
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  return true;
}

/** Name that npm accepts. */
const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '') || 'my-chat';
