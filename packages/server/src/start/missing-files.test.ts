import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParley, type ParleyConfig } from '../index.js';

// Simulates a build that copies only traced files.
jest.mock('../http/web-assets.js', () => ({
  ...jest.requireActual('../http/web-assets.js'),
  openWebAssets: () => null,
}));
jest.mock('@parley/images', () => ({ ...jest.requireActual('@parley/images'), findImageScript: () => null }));
jest.mock('@parley/markdown', () => ({ ...jest.requireActual('@parley/markdown'), findTypesettingScript: () => null }));
jest.mock('@parley/node-adapters', () => ({
  ...jest.requireActual('@parley/node-adapters'),
  findMailScript: () => null,
}));

const SCRIPTS = ['image-child.js', 'thread.js', 'mail-thread.js'].map((file) => [
  { file },
  expect.stringMatching(`^dist/${file} of Parley is missing`),
]);

describe('createParley without files of the package', () => {
  it.each<[string, Pick<ParleyConfig, 'webClient'>, unknown[]]>([
    [
      'logs a line for each file, and names the setting for the web client',
      {},
      [[{ file: 'web' }, expect.stringMatching(/^dist\/web .*PARLEY_WEB_CLIENT \(webClient: false\)/)], ...SCRIPTS],
    ],
    ['logs no missing web client if it is off', { webClient: false }, SCRIPTS],
  ])('%s', async (_, options, expected) => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-missing-'));
    const logged: unknown[] = [];
    const logger = { info: () => {}, error: (...line: unknown[]) => void logged.push(line) };
    const database = `sqlite:${join(directory, 'chat.db')}`;
    await (await createParley({ database, url: 'http://localhost', logger, ...options })).close();
    rmSync(directory, { recursive: true });
    expect(logged).toEqual(expected);
  });
});
