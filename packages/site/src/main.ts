#!/usr/bin/env node
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build, serve } from 'vitepress';
import { brokenLinks } from './check-links.js';
import { wrongResults } from './check-search.js';
import { mendTypes, writeContent } from './content.js';

const USAGE = `npm run docs [-- --port PORT]
npm run docs:build -- [--out FOLDER] [--base PATH] [--version URL]…

Builds the documentation site of this checkout. The first form serves it.
  --out FOLDER   default: packages/site/dist/site
  --base PATH    path of the site at its host, such as /0.3.0/; default: /
  --version URL  site of another version, such as https://docs.example.com/0.2.0/, for the menu
  --port PORT    default: 4173`;

const home = fileURLToPath(new URL('..', import.meta.url));

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      serve: { type: 'boolean', default: false },
      out: { type: 'string', default: join(home, 'dist/site') },
      base: { type: 'string', default: '/' },
      version: { type: 'string', multiple: true, default: [] },
      port: { type: 'string', default: '4173' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { out, base, version } = values;
  writeContent(version);
  const typedoc = join(dirname(createRequire(import.meta.url).resolve('typedoc/package.json')), 'bin/typedoc');
  execFileSync(process.execPath, [typedoc], { cwd: home, stdio: 'inherit' });
  mendTypes();
  await build(home, { outDir: resolve(out), base });
  const broken = brokenLinks(resolve(out), base);
  if (broken.length > 0) throw new Error(`Links to nothing:\n${broken.join('\n')}`);
  const wrong = await wrongResults(resolve(out), base);
  if (wrong.length > 0) throw new Error(`Searches that find another section first:\n${wrong.join('\n')}`);
  if (values.serve) await serve({ root: home, base, port: Number(values.port) });
}

await main();
