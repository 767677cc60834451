import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParley } from '../start/create-parley.js';
import { runCommand } from '../testing/run-command.js';

/** Records that docs/import.md shows. */
const documented = readFileSync(join(__dirname, '../../../../docs/import.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{"source"'));

/** End of the central directory, without entries. */
const EMPTY_ZIP = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)]);

let directory: string;
let records: string;
let database: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-import-command-'));
  database = join(directory, 'data', 'parley.db');
  mkdirSync(join(directory, 'data'));
  mkdirSync(join(directory, 'files'));
  records = join(directory, 'crm.jsonl');
  writeFileSync(records, documented.join('\n'));
  writeFileSync(join(directory, 'files', 'offer.pdf'), '%PDF-1.7');
});
afterEach(() => rmSync(directory, { recursive: true }));

const run = (...args: readonly string[]) => runCommand(['import', ...args, `--database=sqlite:${database}`]);

describe('parley import of records', () => {
  it('imports only new records into an existing organization', async () => {
    expect((await run(records, '--realm=acme', '--new-database')).code).toBe(0);
    const rest = documented.slice(0, -1).map((line) => line.replaceAll('"crm"', '"erp"'));
    const other = join(directory, 'erp.jsonl');
    writeFileSync(other, rest.join('\n'));
    const dry = await run(other, '--realm=acme', '--dry-run');
    expect([dry.code, dry.err]).toEqual([0, '']);
    expect(dry.out).toMatch(/person: 1 merged: account by verified email[\s\S]*Nothing was changed/);
    const { out } = await run(other, '--realm=acme');
    expect(out).toMatch(/Imported into acme \(Acme\) as import 2: 1 user, 1 channel, 3 messages/);
    expect((await run(other, '--realm=acme')).out).toMatch(/acme \(Acme\) has everything already/);
    const { out: list } = await runCommand(['imports', 'list', `--database=sqlite:${database}`]);
    expect(list.match(/complete/g)).toHaveLength(2);
    const undone = await runCommand(['imports', 'undo', '2', `--database=sqlite:${database}`]);
    expect(undone.out).toMatch(/Removed 3 messages from acme[\s\S]*Archived 1 channel/);
    expect((await run(other, '--realm=acme')).out).toMatch(/as import 3: 0 users, 0 channels, 3 messages/);
  });

  it('lowers the priority of its process only for commands that do not write', async () => {
    await run(records, '--realm=acme', '--new-database');
    const lowered: (readonly string[])[] = [];
    const commands = [
      ['import', records, '--realm=acme', '--dry-run'],
      ['imports', 'verify', '1', records],
      ['import', records, '--realm=acme', '--share-public'],
      ['imports', 'undo', '1'],
    ];
    for (const command of commands) {
      const args = [...command, `--database=sqlite:${database}`];
      expect((await runCommand(args, { comeAfterServer: () => lowered.push(command) })).code).toBe(0);
    }
    expect(lowered).toEqual(commands.slice(0, 2));
  });

  it('lists the members that an undo would put back', async () => {
    await run(records, '--realm=acme', '--new-database');
    writeFileSync(records, documented.join('\n').replace('"members":["ann","bob"]', '"members":["ann"]'));
    expect((await run(records, '--realm=acme')).out).toContain('sales: left: Bob');
    const undo = (...flags: string[]) =>
      runCommand(['imports', 'undo', '2', ...flags, `--database=sqlite:${database}`]).then(({ out }) => out);
    const members = '1 (+ added, - removed)\n  sales: + Bob';
    expect(await undo('--dry-run')).toContain(`Members to put back: ${members}`);
    expect(await undo()).toContain(`Members put back: ${members}`);
  });

  it('recognizes an unchanged export without reading it, as long as its import is the latest of the source', async () => {
    const again = async (...flags: readonly string[]) => (await run(records, '--realm=acme', ...flags)).out;
    await again('--new-database');
    const unchanged =
      /^The export is unchanged since import 1, which has all of its 7 records\.\nacme \(Acme\) has everything/;
    expect(await again()).toMatch(unchanged);
    for (const flag of ['--share-public', `--report=${join(directory, 'report')}`]) {
      expect(await again(flag)).not.toContain('unchanged');
    }
    const more = { source: 'crm', kind: 'message', id: 'm9', channel: 'c1', sender: 'ann', sentAt: 1_700_000_100 };
    writeFileSync(records, [...documented, JSON.stringify({ ...more, content: 'more' })].join('\n'));
    expect(await again()).toContain('as import 2: 0 users, 0 channels, 1 message');
    expect(await again()).toContain('unchanged since import 2, which has all of its 8 records');
    await runCommand(['imports', 'undo', '2', `--database=sqlite:${database}`]);
    expect(await again()).toContain('as import 3: 0 users, 0 channels, 1 message');
    const folder = join(directory, 'files');
    writeFileSync(join(folder, 'records.jsonl'), documented.join('\n').replaceAll('"crm"', '"erp"'));
    symlinkSync('missing', join(folder, 'broken link'));
    await run(folder, '--realm=acme');
    expect((await run(folder, '--realm=acme')).out).toContain('unchanged since import 4');
    writeFileSync(join(folder, 'offer.pdf'), '%PDF-1.6');
    expect((await run(folder, '--realm=acme')).out).not.toContain('unchanged');
  });

  it('imports the documented example with a mapping file and writes a report', async () => {
    const people = join(directory, 'people.csv');
    writeFileSync(people, 'Person;Email\nbob;bob@acme.example\nnobody;n@acme.example\n');
    const report = join(directory, 'report');
    const { code, out, err } = await run(
      records,
      '--realm=acme',
      `--people=${people}`,
      `--report=${report}`,
      '--new-database',
    );
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/Imported acme \(Acme\): 5 users, 1 channel, 3 messages, 1 file; at /);
    const text = readFileSync(join(report, 'report.txt'), 'utf8');
    expect(text).toContain('People: 2 with an account, 0 who cannot log in');
    expect(text).toMatch(/match nobody, or several people:\n {2}nobody/);
    expect(JSON.parse(readFileSync(join(report, 'report.json'), 'utf8'))).toMatchObject({ records: 7, messages: 3 });
    expect(readdirSync(join(directory, 'data')).filter((name) => name.startsWith('parley-import-'))).toEqual([]);

    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
    try {
      const users = await parley.users.list({ realm: 'acme' }).toArray();
      const bob = parley.as({ realm: 'acme', userId: users.find(({ name }) => name === 'Bob')!.id });
      const messages = await bob.messages.list({ channel: 'sales', topic: 'Who calls Acme?' }).toArray();
      expect(messages.map(({ sender, content }) => [sender.name, content])).toEqual([
        ['Ann Lee', 'Who calls **Acme**?'],
        ['Bob', expect.stringMatching(/^I do, @_\*\*Ann Lee\|\d+\*\*\n\n\[offer\.pdf]\(\/user_uploads\//)],
      ]);
    } finally {
      await parley.close();
    }

    const { out: listed } = await runCommand(['imports', 'list', `--database=sqlite:${database}`]);
    expect(listed).toMatch(/^1\t20\d\d-\S+Z\tcrm\tcomplete\t3 messages$/);
    const verify = (...args: readonly string[]) =>
      runCommand(['imports', 'verify', ...args, `--database=sqlite:${database}`]);
    const unchanged = await verify('1', records);
    expect(unchanged).toMatchObject({ code: 0, err: '' });
    expect(unchanged.out).toBe('Unchanged: 5 records\nNobody can read more imported conversations than in the source.');
    writeFileSync(records, documented.join('\n').replace('Who calls', 'Who phones'));
    const changed = await verify('1', records);
    expect(changed.code).toBe(3);
    expect(changed.out).toContain('  message: 1 differs in the export (for example m1)');
    expect(await verify('1', directory)).toMatchObject({ code: 1, err: expect.stringContaining('is not an export') });
    expect(await verify('1', join(directory, 'missing'))).toMatchObject({ code: 1 });

    const undo = (...args: readonly string[]) =>
      runCommand(['imports', 'undo', ...args, `--database=sqlite:${database}`]);
    expect((await undo('1', '--dry-run')).out).toMatch(/^Would remove 3 messages from acme/);
    expect(await undo('one')).toMatchObject({ code: 2, err: expect.stringContaining('BATCH must be a number') });
    expect(await undo('2')).toMatchObject({ code: 1, err: expect.stringContaining('There is no import 2.') });
    expect((await undo('1')).out).toMatch(/^Removed 3 messages from acme/);
    const { out: left } = await runCommand(['imports', 'list', `--database=sqlite:${database}`]);
    expect(left).toContain('undone');
  });

  it('merges a placeholder into a user and reverts the merge', async () => {
    const direct = [
      { source: 'crm', kind: 'conversation', id: 'direct', members: ['ann', 'bob'] },
      { source: 'crm', kind: 'message', id: 'd1', conversation: 'direct', sender: 'ann', sentAt: 9, content: 'hi' },
    ];
    writeFileSync(records, [...documented, ...direct.map((record) => JSON.stringify(record))].join('\n'));
    await run(records, '--realm=acme', '--new-database');
    const imports = (...args: readonly string[]) => runCommand(['imports', ...args, `--database=sqlite:${database}`]);
    const { out } = await runCommand(['user', 'list', '--deactivated', `--database=sqlite:${database}`]);
    const bob = /(\d+)\D*imported-\d+@parley\.invalid.*Bob/.exec(out)![1]!;
    expect((await imports('merge', bob, 'ann@acme.example', '--dry-run')).out).toBe(
      `Would give 1 message and 0 reactions of user ${bob} to ann@acme.example\n` +
        'Messages in direct conversations that ann@acme.example takes part in by the merge: 1',
    );
    expect((await imports('merge', bob, 'ann@acme.example')).out).toMatch(/^Gave 1 message/);
    expect((await imports('unmerge', bob)).out).toBe(
      `Returned 1 message and 0 reactions to user ${bob}\nMessages in direct conversations of user ${bob}: 1`,
    );
    expect(await imports('unmerge', bob)).toMatchObject({ code: 1, err: expect.stringContaining('is not merged') });
    expect(await imports('merge', bob, 'nobody@acme.example')).toMatchObject({ code: 1 });
  });

  it('imports an export of Slack', async () => {
    const slack = join(directory, 'slack');
    const write = (name: string, value: unknown) => writeFileSync(join(slack, name), JSON.stringify(value));
    mkdirSync(join(slack, 'general'), { recursive: true });
    const ann = { real_name: 'Ann', email: 'ann@acme.example' };
    write('users.json', [
      { id: 'U1', team_id: 'T1', name: 'ann', is_owner: true, is_email_confirmed: true, profile: ann },
      { id: 'U2', team_id: 'T1', name: 'ben', profile: { real_name: 'Ben' } },
    ]);
    write('channels.json', [{ id: 'C1', name: 'general', members: ['U1', 'U2'] }]);
    write('general/2023-11-14.json', [
      { type: 'message', user: 'U2', ts: '1700000000.000100', thread_ts: '1700000000.000100', text: 'Who *calls*?' },
      { type: 'message', user: 'U1', ts: '1700000001.000100', thread_ts: '1700000000.000100', text: 'I do, <@U2>' },
      { type: 'message', user: 'U2', subtype: 'channel_join', ts: '1700000002.000100', text: 'joined' },
    ]);
    const { code, out, err } = await run(slack, '--realm=acme', '--new-database');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('slack.channel_join');

    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
    try {
      const users = await parley.users.list({ realm: 'acme' }).toArray();
      const reader = parley.as({ realm: 'acme', userId: users.find(({ name }) => name === 'Ann')!.id });
      const messages = await reader.messages.list({ channel: 'general', topic: 'Who calls?' }).toArray();
      expect(messages.map(({ sender, content }) => [sender.name, content])).toEqual([
        ['Ben', 'Who **calls**?'],
        ['Ann', expect.stringMatching(/^I do, @_\*\*Ben\|\d+\*\*$/)],
      ]);
    } finally {
      await parley.close();
    }
  });

  it('changes nothing on a dry run, which needs no database', async () => {
    const { code, out } = await run(records, '--realm=acme', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('Records: 7, all accounted for');
    expect(out).toContain('person: 1 imported: placeholder, because no verified email is known');
    expect(out).toContain('Nothing was changed.');
    expect(existsSync(database)).toBe(false);
    expect(readdirSync(join(directory, 'data'))).toEqual([]);
  });

  it('writes an HTML report with samples of public messages, in which hostile texts are inert', async () => {
    const attack = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
    const hostile = [
      { kind: 'organization', id: attack, name: attack },
      { kind: 'person', id: attack, name: attack, email: `${attack}@x.example` },
      { kind: 'channel', id: 'c', name: attack, privacy: 'public', members: [attack] },
      { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: [attack] },
      {
        ...{ kind: 'message', id: 'm1', channel: 'c', sender: attack, sentAt: 1, thread: 'm1', senderName: attack },
        content: `**bold** ${attack} [x](javascript:alert(1)) \`\`\`spoiler ${attack}`,
      },
      {
        kind: 'message',
        id: 'm2',
        channel: 'c',
        sender: attack,
        sentAt: 2,
        thread: 'm1',
        content: [{ link: 'file', id: 'f' }],
      },
      { kind: 'message', id: 'm3', channel: 's', sender: attack, sentAt: 3, content: 'confidential' },
      { kind: 'file', id: 'f', name: attack, missing: attack },
      { kind: 'skipped', id: attack, type: attack, reason: attack },
    ];
    writeFileSync(records, hostile.map((record) => JSON.stringify({ source: attack, ...record })).join('\n'));
    const report = join(directory, 'report');
    expect(await run(records, '--realm=acme', `--report=${report}`, '--dry-run')).toMatchObject({ code: 0, err: '' });
    const html = readFileSync(join(report, 'report.html'), 'utf8');
    expect(html).toContain('<strong>bold</strong>');
    expect(html).not.toContain('confidential');
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`);
    const tags = [...html.matchAll(/<(\w+)([^>]*)>/g)];
    const names = new Set(tags.map(([, name]) => name!));
    const allowed =
      'html head meta title style body h1 h2 h3 pre table tr th td section p b strong a time hr div span code button i'.split(
        ' ',
      );
    expect([...names].filter((name) => !allowed.includes(name))).toEqual([]);
    expect(tags.filter(([, , attributes]) => /\son\w+\s*=|javascript:/i.test(attributes!))).toEqual([]);
  });

  it('downloads files by URL to a folder, and reports those that are missing', async () => {
    const server = createServer((request, response) =>
      request.url === '/logo.txt' ? response.end('hello') : response.writeHead(404).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fileOf = (id: string) =>
      JSON.stringify({ source: 'crm', kind: 'file', id, name: `${id}.txt`, url: `${base}/${id}.txt` });
    const message = { source: 'crm', kind: 'message', id: 'm9', channel: 'c1', sender: 'ann', sentAt: 1_700_000_100 };
    const files = ['logo', 'gone'];
    writeFileSync(
      records,
      [...documented, ...files.map(fileOf), JSON.stringify({ ...message, content: 'Files', files })].join('\n'),
    );
    const folder = join(directory, 'downloads');
    const flags = [records, '--realm=acme', `--download=${folder}`];
    try {
      const refused = await run(...flags, '--dry-run');
      expect(refused.out).toContain('file: 2 represented: its address is not on the public Internet');
      const { code, out, err } = await run(...flags, '--webhook-networks=loopback', '--new-database');
      expect([code, err]).toEqual([0, `Downloaded 1 file, 0 were in ${folder}; 1 failed: the server returned 404`]);
      expect(out).toContain('file: 1 represented: the server returned 404');
      expect(out).toContain('2 files; at');
    } finally {
      server.close();
    }
  });

  it('adds files after the import, once they can be downloaded', async () => {
    let status = 403;
    const server = createServer((_, response) => void response.writeHead(status).end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/logo.txt`;
    const file = { source: 'crm', kind: 'file', id: 'logo', name: 'logo.txt', url };
    const message = { source: 'crm', kind: 'message', channel: 'c1', sender: 'ann', sentAt: 1_700_000_100 };
    const lines = [
      file,
      { ...message, id: 'm8', content: 'Attached', files: ['logo'] },
      { ...message, id: 'm9', content: ['See ', { link: 'file', id: 'logo', label: 'the logo' }, ' (soon)'] },
    ].map((record) => JSON.stringify(record));
    writeFileSync(records, [...documented, ...lines].join('\n'));
    const options = [`--database=sqlite:${database}`, '--webhook-networks=loopback'];
    const addFiles = (...args: readonly string[]) =>
      runCommand(['imports', 'files', '1', records, `--download=${join(directory, 'downloads')}`, ...args, ...options]);
    try {
      expect((await run(records, '--realm=acme', '--new-database')).out).toContain('file: 1 waiting: not downloaded');
      expect((await addFiles()).out).toBe('Added 0 files to 0 messages');
      status = 200;
      expect((await addFiles()).out).toBe('Added 1 file to 2 messages');
      expect((await addFiles()).out).toBe('Added 0 files to 0 messages');
    } finally {
      server.close();
    }

    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
    try {
      const [ann] = await parley.users.list({ realm: 'acme' }).toArray();
      const chat = parley.as({ realm: 'acme', userId: ann!.id });
      const messages = await chat.messages.list({ channel: 'sales', topic: '' }).toArray();
      expect(messages.map(({ content }) => content.replace(/user_uploads.*(?=\/)/, '…')).slice(-2)).toEqual([
        'Attached\n\n[logo.txt](/…/logo.txt)',
        'See [the logo](/…/logo.txt) (soon)',
      ]);
    } finally {
      await parley.close();
    }
    // An added file is not an edit by people.
    const undone = await runCommand(['imports', 'undo', '1', '--dry-run', `--database=sqlite:${database}`]);
    expect(undone.out).toBe('Would remove 5 messages from acme (Acme)');
  });

  it.each([
    [['--realm=acme', '--token-file=/nowhere', '--dry-run'], 2, '--token-file requires --download'],
    [['--realm=acme', '--token-file=/nowhere', '--download=/nowhere', '--dry-run'], 2, 'records need no token'],
    [['--dry-run'], 2, '--realm must be the string id'],
    [['--realm=A!', '--dry-run'], 1, 'lower-case letters'],
    [['--realm=acme', '--people=/nowhere.csv', '--dry-run'], 1, 'Cannot read /nowhere.csv'],
  ])('rejects %j', async (flags, code, message) => {
    expect(await run(records, ...flags)).toMatchObject({ code, err: expect.stringContaining(message) });
  });

  it('rejects a broken line with its position and leaves nothing behind', async () => {
    writeFileSync(records, `${documented[0]}\n{"kind":"person"}\n`);
    const { code, err } = await run(records, '--realm=acme', '--new-database');
    expect([code, err]).toEqual([1, expect.stringContaining('crm.jsonl: line 2 lacks source.')]);
    expect(readdirSync(join(directory, 'data')).filter((name) => name.startsWith('parley-import-'))).toEqual([]);
  });

  it('imports the records of a folder whose files look like an export of another system', async () => {
    const folder = join(directory, 'folder');
    mkdirSync(join(folder, 'files'), { recursive: true });
    copyFileSync(records, join(folder, 'records.jsonl'));
    const forged = { guild: { id: '1' }, channel: { id: '2' }, messages: [] };
    writeFileSync(join(folder, 'files', 'forged.json'), JSON.stringify(forged));
    expect((await run(folder, '--realm=acme', '--dry-run')).out).toContain('Source: crm');
  });

  it('imports a JSONL file by Mattermost', async () => {
    const lines = [
      { type: 'version', version: 1 },
      { type: 'team', team: { name: 'acme', display_name: 'Acme' } },
      { type: 'channel', channel: { team: 'acme', name: 'town', type: 'O' } },
      { type: 'user', user: { username: 'ann', teams: [{ name: 'acme', channels: [{ name: 'town' }] }] } },
      {
        type: 'post',
        post: { team: 'acme', channel: 'town', user: 'ann', message: 'a', create_at: 1_700_000_000_000 },
      },
    ];
    const path = join(directory, 'import.jsonl');
    writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'));
    const imported = await run(path, '--realm=acme', '--new-database');
    expect([imported.err, imported.out]).toEqual(['', expect.stringMatching(/1 channel, 1 message/)]);
  });

  it.each([
    ['is cut', () => Buffer.from('PK\x03\x04 cut'), /export.zip: not a ZIP archive that can be read: /],
    ['has no known files', () => EMPTY_ZIP, /export.zip: contains no export of a known system. Its first files: none/],
    ['is empty', () => Buffer.alloc(0), /export.zip: is empty/],
  ])('rejects a ZIP that %s with the reason', async (_, bytes, reason) => {
    const path = join(directory, 'export.zip');
    writeFileSync(path, bytes());
    for (const flags of [[], ['--dry-run']]) {
      const refused = await run(path, '--realm=acme', '--new-database', ...flags);
      expect(refused.code).toBe(1);
      expect(refused.err).toMatch(reason);
    }
    expect(existsSync(database)).toBe(false);
  });

  it('rejects a backup and names the command that reads it', async () => {
    const backup = join(directory, 'backup.tar');
    await run(records, '--realm=acme', '--new-database');
    expect((await runCommand(['backup', backup, `--database=sqlite:${database}`])).code).toBe(0);
    const message = `${backup} is a backup of a whole server, not an export: use parley restore ${backup}.`;
    expect(await run(backup, '--realm=acme')).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  it('imports an archive into another organization, which can verify, repeat and undo the import', async () => {
    await run(records, '--realm=acme', '--new-database');
    const archive = join(directory, 'acme.tar.gz');
    const command = (...args: readonly string[]) => runCommand([...args, `--database=sqlite:${database}`]);
    await command('export', archive, '--realm=acme');
    await command('realm', 'create', 'other', 'Other', '--bare');
    expect((await run(archive, '--realm=other', '--dry-run')).out).toMatch(
      /Source: zulip:[\s\S]*message: 3 imported[\s\S]*skipped: [\s\S]*Nothing was changed/,
    );
    expect((await run(archive, '--realm=other')).out).toMatch(
      /Imported into other \(Other\) as import \d+: .*3 messages/,
    );
    expect((await run(archive, '--realm=other')).out).toMatch(/^The export is unchanged since import/);
    const [{ id }] = JSON.parse((await command('imports', 'list', '--realm=other', '--json')).out).imports;
    const verified = await command('imports', 'verify', String(id), archive, '--realm=other');
    expect([verified.code, verified.err]).toEqual([0, '']);
    expect((await command('imports', 'undo', String(id), '--realm=other')).out).toContain(
      'Removed 3 messages from other',
    );
    expect(readdirSync(join(directory, 'data')).filter((name) => name.startsWith('parley-import-'))).toEqual([]);
  });

  it('refuses an archive of the organization itself', async () => {
    await run(records, '--realm=acme', '--new-database');
    const archive = join(directory, 'acme.tar.gz');
    await runCommand(['export', archive, '--realm=acme', `--database=sqlite:${database}`]);
    for (const flags of [[], ['--dry-run']])
      expect(await run(archive, '--realm=acme', ...flags)).toMatchObject({
        code: 1,
        err: expect.stringContaining('The archive is of acme (Acme) itself'),
      });
  });

  it('unpacks the archive of an owner only within the quota of the organization', async () => {
    await run(records, '--realm=acme', '--new-database');
    const { out } = await runCommand(['user', 'list', '--realm=acme', '--json', `--database=sqlite:${database}`]);
    const [{ id }] = JSON.parse(out).users;
    writeFileSync(join(directory, 'files', 'realm.json'), randomBytes(2 * 1024 ** 2));
    const archive = join(directory, 'files.tar.gz');
    execFileSync('tar', ['-czf', archive, '-C', directory, 'files']);
    const environment = { PARLEY_UPLOAD_QUOTA: '1' };
    const given = ['import', archive, '--realm=acme', `--database=sqlite:${database}`];
    const left = 1024 ** 2 - '%PDF-1.7'.length;
    for (const flags of [[], ['--dry-run']]) {
      const refused = await runCommand([...given, `--on-behalf-of=${id}`, ...flags], { environment });
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`unpacks to more than ${left} bytes`)]);
      const operator = await runCommand([...given, ...flags], { environment });
      expect([operator.code, operator.err]).toEqual([1, expect.stringContaining('realm.json')]);
    }
  });

  it('rejects flags without a meaning for archives', async () => {
    const archive = join(directory, 'export.tar.gz');
    writeFileSync(archive, 'x');
    expect(await run(archive, '--dry-run')).toMatchObject({ code: 2, err: expect.stringContaining('--dry-run') });
  });
});
