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

describe('createParley without the files of the web client', () => {
  it.each<[string, Pick<ParleyConfig, 'webClient'>, unknown[]]>([
    [
      'names them and the option in the log',
      {},
      [[{ files: ['web/index.html', 'image-child.js'] }, expect.stringMatching(/are missing.*webClient: false/)]],
    ],
    ['logs nothing if the web client is off', { webClient: false }, []],
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
