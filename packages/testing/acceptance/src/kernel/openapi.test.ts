import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer } from '../testing/test-server.js';

/** Relative to the manifest, because the package does not export the path of its command. */
const REDOCLY = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin/cli.js');

const { server } = serverPerSuite();

describe('GET /openapi.json', () => {
  it('describes every operation to any caller as OpenAPI 3.1', async () => {
    const { status, headers, body } = await server.get('/openapi.json', null);
    expect([status, headers['content-type'], body.openapi]).toEqual([200, 'application/json', '3.1.0']);
    const described = new Set(
      server.parley.routes
        .filter(({ path, isDevelopment, errorPage }) => !isDevelopment && !errorPage && !isOwn(path))
        .map(
          ({ method, path, atRoot }) =>
            `${method} ${atRoot ? '/' : ''}${path.replace(/:\w+/g, ':').replace(/\/$/, '')}`,
        ),
    );
    const operations = Object.values<object>(body.paths).flatMap((methods) => Object.keys(methods));
    expect(operations).toHaveLength(described.size);
    expect(operations.length).toBeGreaterThan(150);
  });

  it('lets generators derive different constants from the values of each list', async () => {
    const { body } = await server.get('/openapi.json', null);
    const repeated: unknown[] = [];
    JSON.stringify(body, (_, value) => {
      if (!Array.isArray(value?.enum)) return value;
      const constants: string[] = (value['x-enum-varnames'] ?? value.enum).map((each: unknown) =>
        String(each).replace(/\W+/g, '_').toUpperCase(),
      );
      if (new Set(constants).size < value.enum.length) repeated.push(value.enum);
      return value;
    });
    expect(repeated).toEqual([]);
  });

  it('passes an OpenAPI validator', async () => {
    const { body } = await server.get('/openapi.json', null);
    expect(await new Validator().validate(body)).toEqual({ valid: true });
  });

  it("passes Redocly's recommended rules", async () => {
    const { body } = await server.get('/openapi.json', null);
    const file = join(mkdtempSync(join(tmpdir(), 'parley-openapi-')), 'openapi.json');
    writeFileSync(file, JSON.stringify(body));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { status, stdout } = spawnSync(
      process.execPath,
      [REDOCLY, 'lint', '--extends=recommended', '--format=json', file],
      { env, encoding: 'utf8' },
    );
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string }[] };
    // Zulip API paths: the literal segment wins.
    expect(problems.filter(({ ruleId }) => ruleId !== 'no-ambiguous-paths')).toEqual([]);
    expect(status).toBe(0);
  });
});

describe('GET /api/', () => {
  it('serves a page without scripts, even outside development mode', async () => {
    const production = await TestServer.start({ isDev: false });
    const { status, headers, body } = await production.get('//api/', null);
    await production.close();
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(body).toContain('<code>/api/v1/messages/{message_id}</code> <span>Edit or move a message</span>');
    expect(body).toContain('SHA-256 of the text being replaced');
    expect(body).toContain('href="v1/openapi.json"');
    expect(body).not.toContain('<script');
  });

  it('redirects from the path without a slash, since links in the page are relative', async () => {
    const { status, headers } = await server.get('//api', null);
    expect([status, headers.location]).toEqual([301, 'api/']);
  });
});

const isOwn = (path: string): boolean => path === '/openapi.json' || path === '/api/';
