#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { isTemplate, ONLY, TEMPLATES, type Template, writeProject } from './project.js';

const DEFAULT: Template = 'express';

const USAGE = `create-parley [FOLDER] --parley FILE [OPTIONS]

Writes an application with a chat for the people who log in to it.
  --template NAME  ${TEMPLATES.join(', ')}; default: asks
  --typescript     writes TypeScript instead of JavaScript
  --parley FILE    file or URL of the package parley, such as ./parley-0.3.0.tgz
  --yes            asks nothing; the folder is my-chat and the template ${DEFAULT} unless given`;

const NAMES = {
  express: 'Express',
  fastify: 'Fastify',
  next: 'Next.js',
  nest: 'NestJS',
  koa: 'Koa',
  hono: 'Hono',
  sveltekit: 'SvelteKit',
  nuxt: 'Nuxt',
  'react-router': 'React Router',
} as const satisfies Readonly<Record<Template, string>>;

/** The message is for the person at the terminal. */
class Refusal extends Error {}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      template: { type: 'string' },
      typescript: { type: 'boolean', default: false },
      parley: { type: 'string' },
      yes: { type: 'boolean', short: 'y', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  if (positionals.length > 1) throw new Refusal(`One folder is expected, not ${positionals.length}.\n\n${USAGE}`);
  const { template = null, yes } = values;
  if (template !== null && !isTemplate(template)) {
    throw new Refusal(`--template must be one of ${TEMPLATES.join(', ')}, not "${template}".`);
  }
  if (!yes && (positionals.length === 0 || template === null) && !process.stdin.isTTY) {
    throw new Refusal('Without a terminal, name a folder and --template, or add --yes.');
  }
  const spec = values.parley;
  if (spec === undefined) throw new Refusal(missingPackage());
  const folder = resolve(positionals[0] ?? (yes ? 'my-chat' : await ask('Folder', 'my-chat')));
  const chosen = template ?? (yes ? DEFAULT : await askTemplate());
  const isTyped = values.typescript || ONLY[chosen] === 'TypeScript';
  if (isTyped && ONLY[chosen] === 'JavaScript') throw new Refusal(`The template ${chosen} is in JavaScript only.`);
  // npm checks URLs, such as `file:../parley.tgz`.
  if (/^\.{0,2}\/|\.tgz$/.test(spec) && !URL.canParse(spec) && !existsSync(spec)) {
    throw new Refusal(`There is no file ${spec}.`);
  }
  // npm takes a path relative to the project.
  const parley = existsSync(spec) ? `file:${resolve(spec)}` : spec;
  if (!writeProject({ folder, template: chosen, parley, isTyped })) throw new Refusal(`${folder} is not empty.`);
  console.log(`${NAMES[chosen]} with a chat is in ${folder}. Now run:

  cd ${relative(process.cwd(), folder) || '.'}
  npm install
  npm start`);
}

/** The npm registry has no release of Parley; its package named parley is unrelated. */
function missingPackage(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return `Name the file of the package parley: --parley PATH/parley-${version}.tgz.
In a clone, \`npm run pack\` writes it to packages/parley/dist. The package parley of the npm registry is unrelated.`;
}

async function ask(question: string, initial: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} (${initial}): `);
  terminal.close();
  return answer.trim() || initial;
}

async function askTemplate(): Promise<Template> {
  for (;;) {
    const answer = (await ask(TEMPLATES.join(', '), DEFAULT)).toLowerCase();
    if (isTemplate(answer)) return answer;
    console.log(`Please write one of ${TEMPLATES.join(', ')}.`);
  }
}

try {
  await main();
} catch (error) {
  const isMistake = error instanceof Refusal || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS');
  if (!isMistake) throw error;
  console.error((error as Error).message);
  process.exitCode = 2;
}
