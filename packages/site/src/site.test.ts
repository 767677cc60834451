import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRoutes, type RouteDependencies } from '@parley/http';
import { openApiOf } from '@parley/http/openapi';
import { apiPages } from './api-pages.js';
import { brokenLinks } from './check-links.js';
import { labelCells } from './label-cells.js';
import { anchorOf, llmsText, samplePage, searchWeight, summaryOf, toSitePage, versionLinks } from './pages.js';

describe('page of the site', () => {
  it('shows links to sources as text and keeps links to other pages', () => {
    const { text } = toSitePage({
      path: 'tour',
      text: '# Tour\n\n<!-- Generated. -->\n\n[a](../packages/clients/chat/src/index.ts) [b](limits.md#files) [c](deploy) [d](deploy/Caddyfile)\n',
    });
    expect(text).toBe('# Tour\n\na [b](limits.md#files) c [d](deploy/Caddyfile.md)\n');
  });

  it('links to samples from pages in folders', () => {
    const { text } = toSitePage({
      path: 'guides/bot',
      text: '[a](../deploy/Caddyfile) [b](../../packages/a.ts) [c](a.schema.json) [d](deploy/around.md#a)',
    });
    expect(text).toBe('[a](../deploy/Caddyfile.md) b [c](a.schema.json.md) [d](deploy/around.md#a)');
  });

  it('is the index of its folder if it is a README', () => {
    expect(toSitePage({ path: 'adr/README', text: '[all](../contract/README.md#decisions)' })).toEqual({
      path: 'adr/index',
      text: '[all](../contract/index.md#decisions)',
    });
  });

  it('keeps double braces as text, which Vue would evaluate', () => {
    expect(toSitePage({ path: 'a', text: '{{ x }}' }).text).toBe('&#123;&#123; x }}');
  });

  it('shows a sample as code, whatever it contains', () => {
    expect(samplePage({ path: 'deploy/a.yaml', text: '```\na: 1\n```\n' }).text).toBe(
      '# a.yaml\n\n````yaml\n```\na: 1\n```\n````\n',
    );
  });

  it('has the anchors of GitHub', () => {
    expect(anchorOf('7. Event streams: `Last-Event-ID`')).toBe('7-event-streams-last-event-id');
  });

  it.each`
    id                                       | weight
    ${'/embedding-reference.html#customers'} | ${1}
    ${'/guides/bot.html'}                    | ${1}
    ${'/limits.html#files'}                  | ${0.4}
    ${'/types/parley.html#sentat'}           | ${0.1}
    ${'/api/users.html'}                     | ${0.1}
    ${'/0.3.0/contract/users.html'}          | ${0.1}
    ${'/CHANGELOG.html#unreleased'}          | ${0.1}
  `('weighs $weight in searches at $id', ({ id, weight }) => {
    expect(searchWeight(id)).toBe(weight);
  });

  it('is listed for language models with its first sentence', () => {
    const text = '# Limits\n\nThis page lists [maxima](a.md). More.\n';
    expect(summaryOf(text)).toBe('This page lists maxima.');
    expect(llmsText([{ path: 'limits', text }])).toContain('- [Limits](limits.md): This page lists maxima.');
  });
});

describe('API pages', () => {
  const pages = new Map(
    apiPages(openApiOf(createRoutes({} as RouteDependencies))).map(({ path, text }) => [path, text]),
  );
  const send = pages
    .get('api/messages')!
    .split(/^(?=## )/m)
    .find((part) => part.includes('`POST /api/v1/messages`'))!;

  it('show the same call in three languages', () => {
    expect(send).toContain(
      'curl "$SITE/api/v1/messages" \\\n' +
        '  --user "$EMAIL:$API_KEY" \\\n' +
        "  --data-urlencode 'type=stream' \\\n" +
        "  --data-urlencode 'to=general' \\\n" +
        "  --data-urlencode 'content=Hello' \\\n" +
        "  --data-urlencode 'topic=Lunch'",
    );
    expect(send).toContain(
      "client.post('/messages', { type: 'stream', to: 'general', content: 'Hello', topic: 'Lunch' })",
    );
    expect(send).toContain('client.call_endpoint(url="messages", method="POST", request={"type": "stream"');
  });

  it('fill in placeholders of paths', () => {
    expect(pages.get('api/messages')).toContain('"$SITE/api/v1/messages/42"');
    expect(pages.get('api/messages')).toContain("client.get('/messages/{message_id}', { message_id: 42 })");
  });

  it('show files, which the document lists as optional', () => {
    const uploads = [...pages.values()].join('\n');
    expect(uploads).toContain("client.post('/user_uploads', { filename: file })");
    expect(uploads).toContain('url="users/me/avatar", method="POST", files=[open("photo.png", "rb")]');
    expect(uploads).toContain("--form-string 'night=true' \\\n  --form 'filename=@photo.png'");
  });

  it('show JavaScript that compiles with the types of the client', () => {
    const examples = [...pages.values()].flatMap((text) =>
      [...text.matchAll(/^```js \[JavaScript\]\n(const re.*?)\n```/gms)].map(([, code]) => code!),
    );
    expect(examples.length).toBeGreaterThan(200);
    const folder = mkdtempSync(join(tmpdir(), 'parley-examples-'));
    const root = join(__dirname, '../../..');
    const text = [
      "import type { ParleyClient } from 'parley/client';",
      'declare const [client, site, authorization, file]: [ParleyClient, string, string, Blob];',
      ...examples.map((code) => `{ ${code} }`),
    ].join('\n');
    writeFileSync(join(folder, 'examples.ts'), text);
    const compilerOptions = {
      ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true, types: [] },
      ...{ exactOptionalPropertyTypes: true, lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'] },
      paths: { 'parley/client': [join(root, 'packages/clients/client/src/index.ts')] },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['examples.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stdout).toBe('');
  });

  it('list parameters with their limits, and named types once', () => {
    expect(send).toMatch(/\| `content` \| `string` \| .*required.*\|/);
    expect(pages.get('api/types')!.match(/^## Message$/gm)).toHaveLength(1);
  });
});

it('starts with the program of the README', () => {
  const blocksIn = (path: string) =>
    [...readFileSync(join(__dirname, path), 'utf8').matchAll(/^```(?:ts|html)\n.*?^```/gms)].map(([block]) => block);
  expect(blocksIn('index.md')).toHaveLength(2);
  expect(blocksIn('index.md')).toEqual(blocksIn('../../../README.md'));
});

it('labels the cells of a table with the headings of their columns', () => {
  const rules: ((state: { readonly tokens: readonly Token[] }) => void)[] = [];
  labelCells({ core: { ruler: { push: (_, rule) => rules.push(rule) } } });
  const token = (type: string, content = '') => ({ type, content, attrSet: jest.fn() });
  type Token = ReturnType<typeof token>;
  const row = [token('tr_open'), token('td_open'), token('td_open')];
  const head = ['`Option`', ''].flatMap((heading) => [token('th_open'), token('inline', heading)]);
  rules[0]!({ tokens: [token('table_open'), token('tr_open'), ...head, ...row] });
  expect(row.flatMap(({ attrSet }) => attrSet.mock.calls)).toEqual([
    ['data-label', 'Option'],
    ['data-label', ''],
  ]);
});

it('links to sites of other versions by the last part of their address', () => {
  expect(versionLinks(['https://docs.example.com/parley/0.2.0/', 'https://old.example.com'])).toEqual([
    { text: '0.2.0', link: 'https://docs.example.com/parley/0.2.0/' },
    { text: 'https://old.example.com', link: 'https://old.example.com' },
  ]);
});

describe('brokenLinks', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-site-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('finds missing pages and anchors, also below a base', () => {
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    };
    write('api/index.html', '<h2 id="x">X</h2><a href="#x">x</a> <a href="#y">y</a> <a href="../a.html">a</a>');
    write('a.html', '<a href="/0.3/api/#x">x</a> <a href="/0.3/b.html">b</a> <a href="https://example.com/c">c</a>');
    expect([...brokenLinks(folder, '/0.3/')].sort()).toEqual(['a.html: /0.3/b.html', 'api/index.html: #y']);
  });
});
