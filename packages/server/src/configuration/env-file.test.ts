import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../kernel/startup-error.js';
import { parseEnvFile } from './env-file.js';
import { readConfiguration } from './read-configuration.js';

describe('env-file parser', () => {
  it('reads plain and quoted values as systemd does', () => {
    const text = [
      '# settings',
      '; more settings',
      '',
      'PLAIN = not a name',
      'PARLEY_URL=https://chat.example.com',
      '  PARLEY_SECRET= horse # battery \r',
      'PARLEY_JWT_SECRETS=\'{"": "a \\ secret"}\'',
      'PARLEY_SMTP_URL="smtp://a:\\"b\\\\@mail.example.com"',
      'AWS_ACCESS_KEY_ID=back\\\\slash',
      'EMPTY=',
    ].filter((line) => !line.startsWith('PLAIN'));
    expect(Object.fromEntries(parseEnvFile(text.join('\n'), 'x'))).toEqual({
      PARLEY_URL: 'https://chat.example.com',
      PARLEY_SECRET: 'horse # battery',
      PARLEY_JWT_SECRETS: '{"": "a \\ secret"}',
      PARLEY_SMTP_URL: 'smtp://a:"b\\@mail.example.com',
      AWS_ACCESS_KEY_ID: 'back\\slash',
      EMPTY: '',
    });
  });

  it.each(['PARLEY_URL', 'PLAIN = value', "A='open", 'A="open\\"', 'A=continued\\', '1A=x'])(
    'rejects the line %s, naming its number but not its content',
    (line) => {
      expect(() => parseEnvFile(`\n${line}`, 'parley.env')).toThrow(
        new UsageError('Line 2 of parley.env is not of the form NAME=value.'),
      );
    },
  );

  it('gives options and variables precedence, and completes the environment for libraries', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-env-file-'));
    try {
      const path = join(folder, 'parley.env');
      writeFileSync(path, 'PARLEY_PORT=1\nPARLEY_HOST=127.0.0.1\nPARLEY_URL=https://file.example.com\nAWS_REGION=x\n');
      const environment = { PARLEY_HOST: '127.0.0.2' };
      const args = [`--env-file=${path}`, '--port=2'];
      const { configuration } = readConfiguration(args, environment, { 'env-file': 'value' });
      expect(configuration).toMatchObject({ port: 2, host: '127.0.0.2', url: 'https://file.example.com' });
      expect(environment).toMatchObject({ AWS_REGION: 'x', PARLEY_HOST: '127.0.0.2' });
      writeFileSync(path, 'PARLEY_PROT=1\n');
      expect(() => readConfiguration(args, {}, { 'env-file': 'value' })).toThrow('There is no setting PARLEY_PROT');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('requires an explicitly named file to be readable', () => {
    expect(() => readConfiguration(['--env-file=/nowhere'], {}, { 'env-file': 'value' })).toThrow(
      '--env-file: /nowhere cannot be read: no such file or directory.',
    );
  });
});
