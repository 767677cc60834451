import { Validator } from '@seriousme/openapi-schema-validator';
import { TestServer } from './testing/test-server.js';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

describe('GET /openapi.json', () => {
  it('describes every operation to any caller as OpenAPI 3.1', async () => {
    const { status, headers, body } = await server.get('/openapi.json', null);
    expect([status, headers['content-type'], body.openapi]).toEqual([200, 'application/json', '3.1.0']);
    const described = new Set(
      server.parley.routes
        .filter(({ path, isDevelopment, errorPage }) => !isDevelopment && !errorPage && !isOwn(path))
        .map(({ method, path, atRoot }) => `${method} ${atRoot ? '/' : ''}${path.replace(/:\w+/g, ':')}`),
    );
    const operations = Object.values<object>(body.paths).flatMap((methods) => Object.keys(methods));
    expect(operations).toHaveLength(described.size);
    expect(operations.length).toBeGreaterThan(150);
  });

  it('passes an OpenAPI validator', async () => {
    const { body } = await server.get('/openapi.json', null);
    expect(await new Validator().validate(body)).toEqual({ valid: true });
  });
});

describe('GET /api/docs', () => {
  it('serves a page without scripts', async () => {
    const { status, headers, body } = await server.get('//api/docs', null);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(body).toContain('<code>/api/v1/messages/{message_id}</code>');
    expect(body).not.toContain('<script');
  });

  it('responds 404 outside of development mode', async () => {
    const production = await TestServer.start({ isDev: false });
    expect((await production.get('//api/docs', null)).status).toBe(404);
    expect((await production.get('/openapi.json', null)).status).toBe(200);
    await production.close();
  });
});

const isOwn = (path: string): boolean => path === '/openapi.json' || path === '/api/docs';
