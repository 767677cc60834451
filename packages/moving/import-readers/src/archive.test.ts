import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ARCHIVE_LIMITS, openArchive } from './archive.js';
import { forge, withoutUtf8Flag, writeFolder, writeZip } from './testing/export-files.js';

async function textOf(path: string, name: string): Promise<string> {
  const archive = await openArchive(path);
  try {
    let text = '';
    for await (const chunk of archive.read(name)) text += chunk.toString();
    return text;
  } finally {
    await archive.close();
  }
}

const namesOf = async (path: string): Promise<readonly string[]> => {
  const archive = await openArchive(path);
  await archive.close();
  return archive.names;
};

const FILES = { 'users.json': '[]', 'général/2024-01-01.json': '[1]' };

describe('openArchive', () => {
  it.each([
    ['a ZIP', () => writeZip(FILES)],
    ['a folder', () => writeFolder(FILES)],
  ])('reads the files of %s', async (_, write) => {
    const path = await write();
    expect(await namesOf(path)).toEqual(['général/2024-01-01.json', 'users.json']);
    expect(await textOf(path, 'général/2024-01-01.json')).toBe('[1]');
  });

  it('removes the folder around a packed folder, and the files of operating systems', async () => {
    const path = await writeZip({ 'Acme/users.json': '[]', 'Acme/.DS_Store': '', '__MACOSX/Acme/._users.json': '' });
    expect(await namesOf(path)).toEqual(['users.json']);
    expect(await textOf(path, 'users.json')).toBe('[]');
  });

  it('reads names in UTF-8 without the flag, and in code page 437', async () => {
    const withoutFlag = await withoutUtf8Flag(await writeZip({ 'é.json': 'a' }));
    expect(await namesOf(withoutFlag)).toEqual(['é.json']);
    const oldName = await forge(withoutFlag, Buffer.from('é'), Buffer.from([0x82, 0x83]));
    expect(await namesOf(oldName)).toEqual(['éâ.json']);
  });

  it('reads names with backslashes', async () => {
    const path = await forge(await writeZip({ 'users.json': '', 'general/a.json': '1' }), 'general/a', 'general\\a');
    expect(await textOf(path, 'general/a.json')).toBe('1');
  });

  it.each([
    ['../evil.json', 'it leads out of the archive'],
    ['/tmp/ev.json', 'it is absolute'],
    ['C:/evil.json', 'it is absolute'],
    ['evil\0x.json', 'it contains a null character'],
    ['..\\evil.json', 'it leads out of the archive'],
  ])('rejects an archive with a file %j', async (name, reason) => {
    const path = await forge(
      await writeZip({ a: '', [name.replace(/[^.\w]|\.\.|:/g, (it) => 'x'.repeat(it.length))]: '' }),
      name.replace(/[^.\w]|\.\.|:/g, (it) => 'x'.repeat(it.length)),
      name,
    );
    await expect(openArchive(path)).rejects.toMatchObject({
      code: 'INVALID_IMPORT',
      message: expect.stringContaining(reason),
    });
  });

  it('rejects two different files of one name, and reads identical ones once', async () => {
    const different = await forge(await writeZip({ 'a.json': '1', 'b.json': '2' }), 'b.json', 'a.json');
    await expect(openArchive(different)).rejects.toThrow('contains "a.json" twice, with different contents');
    const identical = await openArchive(
      await forge(await writeZip({ 'a.json': '1', 'b.json': '1' }), 'b.json', 'a.json'),
    );
    expect(identical.names).toEqual(['a.json']);
    await identical.close();
  });

  it('rejects a file that expands suspiciously, only when it is read', async () => {
    const path = await writeZip({ 'bomb.json': Buffer.alloc(20_000_000), 'a.json': '1' });
    expect(await textOf(path, 'a.json')).toBe('1');
    await expect(textOf(path, 'bomb.json')).rejects.toThrow('bomb.json: expands to more than 300 times its size.');
  });

  it('rejects a file that is longer than declared', async () => {
    const path = await writeZip({ 'a.json': 'a'.repeat(1000), 'b.json': 'b' });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(1000);
    const less = Buffer.alloc(4);
    less.writeUInt32LE(999);
    await expect(forge(path, size, less).then(() => textOf(path, 'a.json'))).rejects.toThrow('a.json: cannot be read');
  });

  it('rejects a file with a wrong checksum', async () => {
    const path = await writeZip({ 'a.png': Buffer.from([1, 2, 3, 4, 5, 6, 7]), 'b.json': '' });
    const archive = await openArchive(path);
    expect(archive.sizeOf('a.png')).toBe(7);
    await archive.close();
    const { crc32 } = await import('node:zlib');
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(crc32(Buffer.from([1, 2, 3, 4, 5, 6, 7])));
    await forge(path, checksum, Buffer.from([9, 9, 9, 9]));
    await expect(textOf(path, 'a.png')).rejects.toThrow('a.png: is damaged: its checksum is wrong.');
  });

  it('rejects files with overlapping compressed data', async () => {
    const path = await writeZip({ 'a.bin': Buffer.from('0123456789'), 'b.bin': Buffer.from('9876543210') });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(12);
    const more = Buffer.alloc(4);
    more.writeUInt32LE(400);
    await forge(path, size, more);
    await expect(openArchive(path)).rejects.toThrow('declares more compressed data than it contains');
  });

  it('limits the number and the size of files', async () => {
    const path = await writeZip({ 'a.json': '12345', 'b.json': '12345' });
    await expect(openArchive(path, { ...ARCHIVE_LIMITS, maxFiles: 1 })).rejects.toThrow('contains more than 1 files');
    await expect(openArchive(path, { ...ARCHIVE_LIMITS, maxBytes: 9 })).rejects.toThrow('expands to more than 9 bytes');
  });

  it('rejects missing files and files of other formats', async () => {
    const folder = await writeFolder({ 'a.zip': 'PK', 'b.zip': '' });
    await expect(openArchive(join(folder, 'a.zip'))).rejects.toThrow('a.zip: not a ZIP archive that can be read');
    await expect(openArchive(join(folder, 'b.zip'))).rejects.toThrow('b.zip: not a ZIP archive that can be read');
    await expect(openArchive(join(folder, 'c.zip'))).rejects.toThrow('no such file or folder');
  });

  it('does not follow links of a folder', async () => {
    const folder = await writeFolder({ 'a.json': '1' });
    await symlink('/etc/hostname', join(folder, 'b.json'));
    expect(await namesOf(folder)).toEqual(['a.json']);
    await expect(textOf(folder, 'b.json')).rejects.toThrow('b.json: no such file.');
  });
});
