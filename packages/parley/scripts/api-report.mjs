#!/usr/bin/env node
// Compares the public types of the package with the reports in api/: exits with 1 if they differ. `--write` updates the
// reports. Reads the declarations of the last build.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from '../../server/scripts/package-folders.mjs';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const tools = createRequire(join(home, '../testing/package.json'));
const { Extractor, ExtractorConfig } = tools('@microsoft/api-extractor');
const folders = packageFolders(join(home, '../..'));
/** Returns the path of a file named by its package: `chat/dist/index.d.ts`. */
const pathOf = (file) => file.replace(/^[^/]+/, (name) => folders.get(name));
const reportFolder = join(home, 'api');
const writes = process.argv.includes('--write');

/** Packages that provide the types of `parley` and `parley/testing`. */
const ENGINE = [...folders.keys()].map((name) => `@parley/${name}`);

/** Types of `parley/domain/*` follow the domain and may change in any release. */
const ENTRIES = {
  parley: { entry: 'parley/dist/index.d.ts', bundledPackages: ENGINE, includeForgottenExports: true },
  testing: { entry: 'parley/dist/testing/index.d.ts', bundledPackages: ['@parley/testkit'] },
  simulation: { entry: 'parley/dist/simulation/index.d.ts', bundledPackages: ['@parley/simulator'] },
  // Types of operations and events follow the OpenAPI document.
  client: { entry: 'client/dist/index.d.ts', without: /^export type \* from '\.\/api\.js';$/m },
  chat: { entry: 'chat/dist/index.d.ts', includeForgottenExports: true },
};

const temporary = mkdtempSync(join(tmpdir(), 'parley-api-'));
mkdirSync(reportFolder, { recursive: true });
const changed = Object.keys(ENTRIES).filter(isChanged);
rmSync(temporary, { recursive: true });
if (changed.length > 0) {
  const files = changed.map((name) => `packages/parley/api/${name}.api.md`).join(', ');
  console.error(
    writes
      ? `Written: ${files}`
      : `The public types differ from ${files}. If that is intended, run npm run api:report, review the difference, and add a line to docs/CHANGELOG.md.`,
  );
  if (!writes) process.exitCode = 1;
}

function isChanged(name) {
  const { entry, without, bundledPackages = [], includeForgottenExports = false } = ENTRIES[name];
  const projectFolder = folders.get(entry.split('/')[0]);
  const declarations = pathOf(entry.replace('.d.ts', '.report.d.ts'));
  writeFileSync(declarations, readFileSync(pathOf(entry), 'utf8').replace(without ?? '', ''));
  const silent = { default: { logLevel: 'none' } };
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder,
      mainEntryPointFilePath: declarations,
      bundledPackages,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2022',
            module: 'nodenext',
            lib: ['es2023', 'dom', 'dom.iterable'],
            strict: true,
            skipLibCheck: true,
            types: ['node'],
          },
          files: [declarations],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder,
        reportTempFolder: temporary,
        includeForgottenExports,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: silent,
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
    configObjectFullPath: join(home, 'api-extractor.json'),
    packageJsonFullPath: join(projectFolder, 'package.json'),
  });
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: writes,
    messageCallback: (message) => {
      message.handled = message.category !== 'TypeScript';
    },
  });
  rmSync(declarations);
  return apiReportChanged;
}
