import { buffer } from 'node:stream/consumers';
import { MAX_FILE_TEXT } from '@parley/domain/files';
import { ZipFile } from 'yazl';
import { readDocument } from './documents.js';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const ODT = 'application/vnd.oasis.opendocument.text';

function zip(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(parts)) archive.addBuffer(Buffer.from(content), name);
  archive.end();
  return buffer(archive.outputStream);
}
const words = async (document: Buffer, contentType: string) =>
  (await readDocument(document, contentType)).trim().split(/\s+/);

const BODY =
  '<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>Quarter</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>ly</w:t></w:r></w:p>' +
  '<w:p><w:r><w:t>fish &amp; chips &#233;t&#xe9; &lt;b&gt;</w:t><w:tab/><w:t>end</w:t></w:r></w:p></w:body></w:document>';

describe('readDocument', () => {
  it('reads the parts of Word documents with text', async () => {
    const document = await zip({
      'word/document.xml': BODY,
      'word/footnotes.xml': '<w:p><w:t>note</w:t></w:p>',
      'word/styles.xml': '<w:t>style</w:t>',
      'docProps/app.xml': '<a>program</a>',
    });
    expect(await words(document, DOCX)).toEqual(['Quarterly', 'fish', '&', 'chips', 'été', '<b>', 'end', 'note']);
  });

  it('reads the content of OpenDocument texts', async () => {
    const content =
      '<text:h>Title</text:h><text:p>two<text:s/>words<text:line-break/>and <text:span>mo</text:span>re</text:p>';
    const document = await zip({ mimetype: ODT, 'content.xml': content, 'styles.xml': '<text:p>style</text:p>' });
    expect(await words(document, ODT)).toEqual(['Title', 'two', 'words', 'and', 'more']);
  });

  it('unpacks and returns a limited amount of text', async () => {
    const bomb = await zip({ 'content.xml': Buffer.alloc(100 * 1024 * 1024, 'a ') });
    expect(bomb.length).toBeLessThan(1024 * 1024);
    expect(await readDocument(bomb, ODT)).toHaveLength(MAX_FILE_TEXT);
  });

  it('takes linear time for unclosed tags', async () => {
    const document = await zip({ 'content.xml': '<'.repeat(5_000_000) });
    expect(await readDocument(document, ODT)).toHaveLength(MAX_FILE_TEXT);
  });

  it.each([
    ['no archive', Buffer.from('no archive')],
    ['an empty file', Buffer.alloc(0)],
  ])('rejects %s', async (_, bytes) => {
    await expect(readDocument(bytes, DOCX)).rejects.toThrow();
  });

  it('rejects truncated archives, and returns no text for archives without known parts', async () => {
    const document = await zip({ 'word/document.xml': BODY });
    await expect(readDocument(document.subarray(0, document.length - 30), DOCX)).rejects.toThrow();
    expect(await readDocument(await zip({ 'a.txt': 'tea' }), DOCX)).toBe('');
  });
});
