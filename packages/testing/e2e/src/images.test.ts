import { execFileSync } from 'node:child_process';
import { encodeMultipart, send } from './conformance/request.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

/** Red, 16 by 8 pixels, with EXIF that names a camera and a location. */
const PHOTO = Buffer.from(
  '/9j/4QESRXhpZgAASUkqAAgAAAAIAA8BAgAHAAAAfgAAABIBAwABAAAAAQAAABoBBQABAAAAbgAAABsBBQABAAAAdgAAACgBAwABAAAAAgAAABMCAwABAAAAAQAAAGmHBAABAAAAhgAAACWIBAABAAAA1AAAAAAAAAA4YwAA6AMAADhjAADoAwAAQ2FtZXJhAAAGAACQBwAEAAAAMDIxMAGRBwAEAAAAAQIDAACgBwAEAAAAMDEwMAGgAwABAAAA//8AAAKgBAABAAAAEAAAAAOgBAABAAAACAAAAAAAAAACAAEAAgACAAAATgAAAAIABQADAAAA8gAAAAAAAAAzAAAAAQAAAB4AAAABAAAAAAAAAAEAAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAIABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAb/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCAANSP/9k=',
  'base64',
);

describe('uploaded image', () => {
  let organization: TestOrganization;
  let person: Person;
  let server: ParleyProcess;
  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    person = await organization.addPerson('Hamlet', 'owner');
    server = await organization.serve();
  });
  afterAll(() => organization.close());

  const headers = () => ({
    Authorization: `Basic ${Buffer.from(`${person.email}:${person.apiKey}`).toString('base64')}`,
  });
  async function post(path: string, content: Buffer | string): Promise<Record<string, string>> {
    const part = { field: 'file', name: 'image', content: Buffer.from(content), type: 'image/png' };
    const { body, contentType } = await encodeMultipart({}, [part]);
    const url = `${server.url}/api/v1${path}`;
    const { text } = await send({ method: 'POST', url, headers: { ...headers(), 'Content-Type': contentType }, body });
    return JSON.parse(text);
  }
  async function load(url: string): Promise<{ status: number; type: string | null; bytes: Buffer }> {
    const reply = await fetch(new URL(new URL(url, server.url).pathname, server.url));
    return {
      status: reply.status,
      type: reply.headers.get('content-type'),
      bytes: Buffer.from(await reply.arrayBuffer()),
    };
  }
  /** Child processes of the server. */
  const childrenOf = (pid: number): string => {
    try {
      return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' }).trim();
    } catch {
      return '';
    }
  };
  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('loses camera metadata', async () => {
    expect(PHOTO.includes('Exif')).toBe(true);
    const { avatar_url: avatar } = await post('/users/me/avatar', PHOTO);
    const { icon_url: icon } = await post('/realm/icon', PHOTO);
    await post('/realm/emoji/red', PHOTO);
    for (const url of [avatar!, avatar!.replace('.png', '-medium.png'), icon!, '/user_avatars/1/emoji/images/1.png']) {
      const { status, type, bytes } = await load(url);
      expect([status, type]).toEqual([200, 'image/png']);
      for (const text of ['Exif', 'Camera', 'GPS']) expect(bytes.includes(text)).toBe(false);
    }
  });

  it('is rejected if it contains a program, and the server continues', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    for (const text of [svg, '<!doctype html><script>alert(1)</script>', 'GIF89a/*...*/=1;alert(1)']) {
      expect(await post('/users/me/avatar', text)).toMatchObject({ result: 'error', code: 'BAD_IMAGE' });
    }
    expect(await post('/users/me/avatar', PHOTO)).toMatchObject({ result: 'success' });
  });

  it('is processed in a child process that ends with the server, even when killed', async () => {
    await post('/users/me/avatar', PHOTO);
    const child = Number(childrenOf(server.pid));
    expect(child).toBeGreaterThan(0);
    await server.kill();
    for (let tries = 0; isRunning(child) && tries < 600; tries++) await pause(50);
    expect(isRunning(child)).toBe(false);
    server = await organization.serve();
  });
});
