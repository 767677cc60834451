import { createCipheriv, createHash } from 'node:crypto';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { MAX_FILE_TEXT } from '@parley/domain/files';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { type BuiltScript, blackPng, buildScript } from '@parley/testkit';
import { ImageProcess } from './image-process.js';

const USER = { realmId: 2 as RealmId, userId: 1 as UserId };
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

const stream = (content: Buffer, entries = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`<< /Length ${content.length} ${entries} >>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ]);
const showing = (...lines: readonly string[]): Buffer =>
  Buffer.from(`BT /F 12 Tf 20 700 Td ${lines.map((line) => `(${line}) Tj 0 -20 Td`).join(' ')} ET`);

/** PDF file with a page for each content stream. */
function pdfOf(contents: readonly Buffer[], { trailer = '', catalog = '' } = {}): Buffer {
  const pages = contents.map((_, index) => `${2 * index + 3} 0 R`);
  const objects: (string | Buffer)[] = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages /Kids [${pages.join(' ')}] /Count ${pages.length} >>`,
  ];
  for (const content of contents) {
    const resources = `/Contents ${objects.length + 2} 0 R /Resources << /Font << /F ${FONT} >> >>`;
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] ${resources} >>`, content);
  }
  const parts = [Buffer.from('%PDF-1.7\n')];
  const starts: string[] = [];
  for (const [index, object] of objects.entries()) {
    starts.push(`${String(Buffer.concat(parts).length).padStart(10, '0')} 00000 n \n`);
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n'));
  }
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${starts.join('')}trailer\n<< /Root 1 0 R /Size ${size} ${trailer} >>`;
  const at = Buffer.concat(parts).length;
  return Buffer.concat([...parts, Buffer.from(`${table}\nstartxref\n${at}\n%%EOF\n`)]);
}

/** Dictionary of a file encrypted with an AES-256 key under a password (PDF 2.0, revision 5). */
function encryptionWith(password: string): string {
  const salted = (salt: string): Buffer => createHash('sha256').update(password).update(salt).digest();
  const hex = (...parts: readonly (Buffer | string)[]): string =>
    `<${Buffer.concat(parts.map((part) => Buffer.from(part))).toString('hex')}>`;
  const cipher = createCipheriv('aes-256-cbc', salted('keysalt1'), Buffer.alloc(16)).setAutoPadding(false);
  const key = cipher.update(Buffer.alloc(32, 'k'));
  const check = hex(salted('checksal'), 'checksal', 'keysalt1');
  const filter = '/CF << /StdCF << /CFM /AESV3 /Length 32 >> >> /StmF /StdCF /StrF /StdCF';
  const keys = `/U ${check} /O ${check} /UE ${hex(key)} /OE ${hex(key)} /Perms ${hex(Buffer.alloc(16))}`;
  return `/Encrypt << /Filter /Standard /V 5 /R 5 /Length 256 /P -4 ${filter} ${keys} >> /ID [<00> <00>]`;
}

describe('readPdf', () => {
  let built: BuiltScript;
  let images: ImageProcess;
  beforeAll(() => {
    built = buildScript(join(__dirname, 'image-child.ts'));
    images = new ImageProcess({ script: built.script, documentMs: 100_000 });
  });
  afterAll(() => {
    images.close();
    built.remove();
  });
  const read = (pdf: Buffer) => images.readDocument(pdf, 'application/pdf', USER);

  it('reads the lines of all pages', async () => {
    const packed = stream(deflateSync(showing('caf\\351', 'third page')), '/Filter /FlateDecode');
    const pdf = pdfOf([stream(showing('Quarterly plan', 'second line')), stream(showing()), packed]);
    expect((await read(pdf))?.split(/\s*\n\s*/)).toEqual(['Quarterly plan', 'second line', 'café', 'third page', '']);
  });

  it('returns null for damaged and encrypted files, and no text for empty pages', async () => {
    const pdf = pdfOf([stream(showing('secret'))], { trailer: encryptionWith('sesame') });
    expect(await read(pdf)).toBeNull();
    expect(await read(Buffer.from('%PDF-1.7 no more'))).toBeNull();
    expect(await read(Buffer.alloc(0))).toBeNull();
    expect((await read(pdfOf([stream(showing())])))?.trim()).toBe('');
  });

  it('returns a limited amount of text', async () => {
    const line = `${'(two words ) Tj '.repeat(100)}0 -1 Td `;
    const page = stream(Buffer.from(`BT /F 1 Tf 0 790 Td ${line.repeat(700)} ET`));
    expect(await read(pdfOf([page, page]))).toHaveLength(MAX_FILE_TEXT);
  });

  it('runs no scripts, opens no addresses, and survives loops', async () => {
    const action = '<< /S /JavaScript /JS (while \\(true\\) {}) /Next << /S /URI /URI (http://localhost:1/) >> >>';
    const loop = '/Names << /JavaScript << /Names [(a) 1 0 R] >> /Kids [1 0 R] >>';
    const pdf = pdfOf([stream(showing('tea'))], { catalog: `/OpenAction ${action} ${loop}` });
    expect((await read(pdf))?.trim()).toBe('tea');
    const endless = Buffer.from(pdf.toString('latin1').replace('/Kids [3 0 R]', '/Kids [2 0 R]'), 'latin1');
    expect(await read(endless)).toBeNull();
  });

  it('kills the process for a file that exceeds the memory limit', async () => {
    const bomb = deflateSync(deflateSync(Buffer.alloc(3 * 2 ** 28, ' ')));
    expect(bomb.length).toBeLessThan(100_000);
    expect(await read(pdfOf([stream(bomb, '/Filter [/FlateDecode /FlateDecode]')]))).toBeNull();
    expect(await images.inspect(blackPng(3, 2), USER)).toMatchObject({ width: 3 });
  });
});
