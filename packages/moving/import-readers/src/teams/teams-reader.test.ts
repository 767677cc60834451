import type { ImportedContent, ImportRecord } from '@parley/transfer/records';
import { type ExportFiles, readRecords, recordsOf, writeFolder, writeZip } from '../testing/export-files.js';
import { TEAMS_READER } from './teams-reader.js';

const user = (id: string, name: string, more: object = {}) => ({
  Id: id,
  DisplayName: name,
  Mail: `${id}@acme.example`,
  UserPrincipalName: `${id}@acme.example`,
  ...more,
});
const CHANNEL = {
  Id: '19:general@thread.tacv2',
  DisplayName: 'General',
  Description: 'All *news*',
  TenantId: 'tenant',
  MembershipType: 'standard',
  CreatedDateTime: '2023-11-14T22:13:20Z',
};

const message = (id: string, more: object = {}) => ({
  Id: id,
  Body: { ContentType: 'html', Content: '<p>a</p>' },
  CreatedDateTime: '2023-11-14T22:13:20.5+00:00',
  LastEditedDateTime: null,
  DeletedDateTime: null,
  Subject: null,
  ReplyToId: null,
  From: { Application: null, User: { Id: 'u1', DisplayName: 'Ann' } },
  Attachments: [],
  Mentions: [],
  Reactions: [],
  MessageType: 'message',
  ChannelIdentity: { ChannelId: CHANNEL.Id, TeamId: 't1' },
  ChatId: null,
  EventDetail: null,
  ...more,
});
const chat = (id: string, more: object = {}) =>
  message(id, { ChannelIdentity: null, ChatId: '19:chat@thread.v2', ...more });

const files = (messages: unknown, more: ExportFiles = {}): ExportFiles => ({
  'users/usersList.json': [
    user('u1', 'Ann Lee'),
    user('u2', 'Ben'),
    user('g', 'Gil', { UserPrincipalName: 'g_x.example#EXT#@acme.example' }),
  ],
  'teams/teamsList.json': [
    { Name: 'Acme', Privacy: 'Public', GroupsId: 't1' },
    { Name: 'Core', Privacy: 'Private', GroupsId: 't2' },
  ],
  'teams/teamsSettings.json': [{ Id: 't2', IsArchived: true }],
  'teams/t1/teamMembers_t1.json': [
    { UserId: 'u1', Name: 'Ann Lee' },
    { UserId: 'u9', Name: 'Former' },
  ],
  'teams/t1/channels_t1.json': [CHANNEL],
  'teams/t1/messages_t1.json': messages,
  ...more,
});

const read = async (messages: unknown, more: ExportFiles = {}): Promise<ImportRecord[]> =>
  readRecords(TEAMS_READER, await writeFolder(files(messages, more)));
const contentOf = async (html: string, more: object = {}): Promise<ImportedContent> =>
  recordsOf(await read([message('1', { Body: { ContentType: 'html', Content: html }, ...more })]), 'message')[0]!
    .content;

const at = (id: number, text: string) => `<at id="${id}">${text}</at>`;
const MENTIONS = [
  { Id: 0, Mentioned: { User: { Id: 'u1', DisplayName: 'Ann' } } },
  { Id: 1, Mentioned: { User: { Id: 'u1', DisplayName: 'Lee' } } },
  { Id: 2, Mentioned: { User: { Id: 'u2', DisplayName: 'Ben' } } },
  { Id: 3, Mentioned: { User: null, Conversation: { Id: 'x', DisplayName: 'Everyone' } } },
  { Id: 4, Mentioned: { Tag: { Id: 'x' } } },
];

describe('TEAMS_READER', () => {
  it.each(['teams', 'users'])('reads exports without the other folder than %s', async (folder) => {
    const all = files([message('1')], { 'users/u1/messages_u1.json': [chat('2')] });
    const some = Object.entries(all).filter(([name]) => name.startsWith(`${folder}/`));
    for (const path of [await writeFolder(Object.fromEntries(some)), await writeZip(Object.fromEntries(some))]) {
      expect(await TEAMS_READER.recognizes(path)).toBe(true);
      const records = await readRecords(TEAMS_READER, path);
      expect(recordsOf(records, 'message')).toHaveLength(1);
      expect(recordsOf(records, 'skipped')).toEqual([]);
    }
  });

  it.each([
    ['a folder', () => writeFolder(files([]))],
    ['a packed folder', () => writeZip({ 'Export/teams/teamsList.json': [], 'Export/users/usersList.json': [] })],
  ])('recognizes %s', async (_, write) => {
    expect(await TEAMS_READER.recognizes(await write())).toBe(true);
  });

  it('does not recognize another archive', async () => {
    expect(await TEAMS_READER.recognizes(await writeZip({ 'users.json': [] }))).toBe(false);
  });

  it('reads people, teams and channels with the access that they had', async () => {
    const records = await read(
      [message('5', { ChannelIdentity: { ChannelId: 'private' }, From: { User: { Id: 'u2' } } })],
      {
        'teams/t1/channels_t1.json': [CHANNEL, { Id: 'private', DisplayName: 'Pay', MembershipType: 'private' }],
        'teams/t2/teamMembers_t2.json': [{ UserId: 'u2' }],
        'teams/t2/channels_t2.json': [{ Id: 'core', DisplayName: 'Plans', MembershipType: 'standard' }],
      },
    );
    expect(records[0]).toMatchObject({ source: 'teams:tenant', kind: 'organization' });
    expect(recordsOf(records, 'person')).toMatchObject([
      { id: 'u1', name: 'Ann Lee', externalId: 'u1', email: 'u1@acme.example', role: 'member' },
      { id: 'u2' },
      { id: 'g', role: 'guest' },
      { id: 'u9', name: 'Former', isExternal: true },
    ]);
    expect(recordsOf(records, 'channel')).toMatchObject([
      {
        id: CHANNEL.Id,
        name: 'Acme',
        privacy: 'public',
        members: ['u1', 'u9'],
        folder: 'Acme',
        description: 'All &#42;news&#42;',
        createdAt: 1_700_000_000,
      },
      { id: 'private', name: 'Pay', privacy: 'private', members: ['u2'], hasMoreMembers: true, folder: 'Acme' },
      { id: 'core', name: 'Plans', privacy: 'private', members: ['u2'], isArchived: true, folder: 'Core' },
    ]);
  });

  it('reads subjects, replies, edits and reactions', async () => {
    const reaction = (type: string, id: string) => ({
      ReactionType: type,
      CreatedDateTime: '2023-11-14T22:13:21Z',
      User: { User: { Id: id } },
    });
    const records = await read([
      message('1', {
        Subject: 'Launch',
        LastEditedDateTime: '2023-11-14T23:13:20Z',
        Reactions: [reaction('like', 'u2'), reaction('😮', 'u1')],
      }),
      message('2', { ReplyToId: '1', Subject: '' }),
    ]);
    const id = `${CHANNEL.Id}/1`;
    expect(recordsOf(records, 'thread')).toMatchObject([{ id, channel: CHANNEL.Id, name: 'Launch' }]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { id, sentAt: 1_700_000_000.5, editedAt: 1_700_003_600, thread: id, content: 'a' },
      { id: `${CHANNEL.Id}/2`, thread: id },
    ]);
    expect(recordsOf(records, 'reaction').map(({ person, emoji, at: time }) => [person, emoji, time])).toEqual([
      ['u2', '👍', 1_700_000_001],
      ['u1', '😮', 1_700_000_001],
    ]);
  });

  it('reads chats, of which each person has a copy', async () => {
    const reference = {
      ContentType: 'messageReference',
      Content: JSON.stringify({ messageId: '1', messagePreview: 'x' }),
    };
    const messages = [chat('1', { Subject: 'Hi' }), chat('2', { Attachments: [reference] })];
    const records = await read([], { 'users/u1/messages_u1.json': messages, 'users/u2/messages_u2.json': messages });
    const [conversation, ...others] = recordsOf(records, 'conversation');
    expect(conversation).toMatchObject({ members: ['u1', 'u2'] });
    expect(others).toEqual([]);
    const [first, second, ...copies] = recordsOf(records, 'message');
    expect(first).toMatchObject({ conversation: conversation!.id, content: '**Hi**\n\na' });
    expect(second).toMatchObject({ replyTo: first!.id });
    expect(copies).toEqual([first, second]);
  });

  it('gives a chat of two people to both, even if only one of them was exported', async () => {
    const [ann, zoe] = ['3c6ee395-529d-4681-b5f7-582c707570f6', '88cbf3c2-0810-4d32-aa19-863c12bf7be9'];
    const ChatId = `19:${ann}_${zoe}@unq.gbl.spaces`;
    const written = [1, 2].map((id) => chat(String(id), { ChatId, From: { User: { Id: ann, DisplayName: 'Ann' } } }));
    const records = await read([], { [`users/${ann}/messages_${ann}.json`]: written });
    expect(recordsOf(records, 'conversation')).toMatchObject([{ members: [ann, zoe] }]);
    expect(recordsOf(records, 'message').filter(({ conversation }) => conversation !== undefined)).toHaveLength(2);
    expect(recordsOf(records, 'person').map(({ id }) => id)).toContain(zoe);
  });

  it('does not take the members of a channel as complete if the export lacks those of its team', async () => {
    const channels = [{ Id: 'c9', DisplayName: 'Ops', MembershipType: 'standard' }];
    const records = await read([], {
      'teams/t9/channels_t9.json': channels,
      'teams/teamsList.json': [{ GroupsId: 't9' }],
    });
    expect(recordsOf(records, 'channel').find(({ id }) => id === 'c9')).toMatchObject({ hasMoreMembers: true });
  });

  it('keeps the notes of people to themselves apart, which share an id', async () => {
    const note = (id: string, from: string) => chat(id, { ChatId: '48:notes', From: { User: { Id: from } } });
    const records = await read([], {
      'users/u1/messages_u1.json': [note('1', 'u1'), note('3', 'u1')],
      'users/u2/messages_u2.json': [note('2', 'u2'), note('4', 'u2')],
    });
    expect(recordsOf(records, 'conversation').map(({ members }) => members)).toEqual([['u1'], ['u2']]);
    expect(new Set(recordsOf(records, 'message').map(({ conversation }) => conversation)).size).toBe(2);
  });

  it('gives people who joined or left a chat only the messages that they can read', async () => {
    const at = (seconds: number, more: object = {}) =>
      chat(String(seconds), { CreatedDateTime: new Date(seconds * 1000).toISOString(), ...more });
    const guest = { From: { Application: null, User: { Id: 'x', DisplayName: 'Stranger' } } };
    const messages = [at(1), at(2, guest), at(3), at(4)];
    const records = await read([], {
      'users/u1/messages_u1.json': messages,
      'users/u2/messages_u2.json': messages.slice(0, 3),
      'users/g/messages_g.json': messages.slice(2),
    });
    const membersOf = new Map(recordsOf(records, 'conversation').map(({ id, members }) => [id, [...members].sort()]));
    const read1 = recordsOf(records, 'message').filter((_, index) => index < 4);
    expect(read1.map(({ id, conversation }) => [id.split('/')[1], membersOf.get(conversation!)])).toEqual([
      ['3', ['g', 'u1', 'u2', 'x']],
      ['4', ['g', 'u1', 'x']],
      ['1', ['u1', 'u2', 'x']],
      ['2', ['u1', 'u2', 'x']],
    ]);
  });

  it.each([
    ['emphasis', '<p><strong>a</strong> <i>b</i> <s>c</s> <code>*d*</code></p>', '**a** *b* ~~c~~ `*d*`'],
    ['line breaks and spaces', '<p>a<br>b&nbsp;c</p>\n<p>&nbsp;</p>\n<div>d</div>', 'a\nb c\n\nd'],
    [
      'nested lists',
      '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><ol start="3"><li>d</li></ol>',
      '* a\n  * b\n* c\n\n3. d',
    ],
    [
      'code',
      '<pre class="language-python"><code><span>def</span>&nbsp;f():<br>  x</code></pre>',
      '```python\ndef f():\n  x\n```',
    ],
    ['quotes and headings', '<h1>A</h1><blockquote>b</blockquote><hr>', '# A\n\n```quote\nb\n```\n\n---'],
    [
      'tables',
      '<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>1</td></tr></tbody></table>',
      '| a | b |\n| --- | --- |\n| 1 |  |',
    ],
    [
      'lists in tables',
      '<table><tbody><tr><td><p>a</p></td><td><ul><li>b</li><li>c</li></ul></td></tr></tbody></table>',
      '| a | b c |\n| --- | --- |',
    ],
    ['code with a language', '<codeblock class="Python"><code>a<br>b</code></codeblock>', '```python\na\nb\n```'],
    [
      'links and pictures',
      '<a href="https://x.example">x</a> <img src="https://x.example/a.png" alt="cat">',
      '[x](https://x.example) [cat](https://x.example/a.png)',
    ],
    ['emoji', '<emoji id="x" alt="🪪" title="ID"></emoji>', '🪪'],
    ['text that looks like Markdown', '<p>*a* @**Ann** &lt;b&gt;</p>', '&#42;a&#42; @&#42;&#42;Ann&#42;&#42; <b>'],
    ['scripts', '<script>x</script><style>y</style><p onclick="z">a<a href="javascript:alert(1)">b</a></p>', 'ab'],
  ])('converts %s', async (_, html, markdown) => {
    expect(await contentOf(html)).toBe(markdown);
  });

  it.each([
    [
      'one for each word',
      `<p>${at(0, 'Ann')}&nbsp;${at(1, 'Lee')}&nbsp;hi</p>`,
      [{ mention: 'person', id: 'u1', name: 'Ann Lee' }, ' hi'],
    ],
    [
      'of different people',
      `${at(1, 'Lee')} ${at(2, 'Ben')}`,
      [{ mention: 'person', id: 'u1', name: 'Ann Lee' }, ' ', { mention: 'person', id: 'u2', name: 'Ben' }],
    ],
    ['of everyone', at(3, 'Everyone'), [{ mention: 'everyone' }]],
    ['of tags', at(4, 'oncall'), '@oncall'],
    ['within bold text', `<b>${at(0, 'Ann')} ${at(1, 'Lee')}</b>`, [{ mention: 'person', id: 'u1', name: 'Ann Lee' }]],
  ])('reads mentions %s', async (_, html, content) => {
    expect(await contentOf(html, { Mentions: MENTIONS })).toEqual(content);
  });

  it('reads files, hosted pictures, forwarded messages and cards', async () => {
    const url = 'https://graph.microsoft.com/v1.0/chats/x/messages/1/hostedContents/y/$value';
    const Attachments = [
      { ContentType: 'reference', ContentUrl: 'https://acme.sharepoint.com/a.docx', Name: 'a.docx' },
      { ContentType: 'forwardedMessageReference', Content: JSON.stringify({ originalMessageContent: '<p>old</p>' }) },
      {
        ContentType: 'application/vnd.microsoft.card.adaptive',
        Content: JSON.stringify({ body: [{ type: 'TextBlock', text: 'Build' }, { items: [{ text: 'ok' }] }] }),
      },
    ];
    const records = await read([
      message('1', {
        Body: { ContentType: 'html', Content: `<img src="${url}" alt="cat"><attachment id="1"></attachment>` },
        Attachments,
      }),
    ]);
    const [file] = recordsOf(records, 'file');
    expect(file).toMatchObject({ name: 'cat', url });
    expect(recordsOf(records, 'message')[0]).toMatchObject({
      content: [
        { link: 'file', id: file!.id, label: 'cat' },
        '\n\n[a.docx](https://acme.sharepoint.com/a.docx)\n\n```quote\nold\n```\n\nBuild\n\nok',
      ],
      unsupported: [{ type: 'teams.attachment.application/vnd.microsoft.card.adaptive' }],
    });
  });

  it('reads deleted messages, apps and events', async () => {
    const event = (kind: string) => ({
      Body: { Content: '<systemEventMessage/>' },
      From: null,
      EventDetail: { EventType: null, Initiator: {}, [kind]: {} },
    });
    const records = await read([
      message('1', { DeletedDateTime: '2023-11-14T22:13:20Z', Body: { ContentType: 'html', Content: '' } }),
      message('2', { From: { Application: { Id: 'app', DisplayName: 'Jira' } } }),
      message('3', event('CallEnded')),
      message('4', event('MembersAdded')),
      message('5', { ...event('x'), EventDetail: { EventType: null, CallEnded: null } }),
      message('6', { Body: {} }),
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { content: '*This message was deleted*', isNotice: true },
      { sender: 'app', isAutomatic: true },
      { content: '*Event: CallEnded*', isNotice: true, unsupported: [{ type: 'teams.CallEnded' }] },
      { content: '*Message without text*', unsupported: [{ type: 'teams.empty_message' }] },
    ]);
    expect(recordsOf(records, 'skipped').map(({ type }) => type)).toEqual([
      'teams.event.MembersAdded',
      'teams.event.unknown',
    ]);
  });

  it('counts meetings, apps, damaged entries and other files, and reads what follows', async () => {
    const text = `[7,\n{"Id": x},\n${JSON.stringify(message('1'))},\n{"Id": "2`;
    const records = await read(text, {
      'users/u1/meetings_u1.json': [{ Id: 'm' }],
      'teams/t1/teamInstalledApps_t1.json': [{}],
      'readme.txt': '',
    });
    expect(recordsOf(records, 'message').map(({ id }) => id)).toEqual([`${CHANNEL.Id}/1`]);
    expect(recordsOf(records, 'skipped').map(({ type, id }) => [type, id])).toEqual([
      ['teams.damaged', 'teams/t1/messages_t1.json:1'],
      ['teams.damaged', 'teams/t1/messages_t1.json:2'],
      ['teams.damaged', 'teams/t1/messages_t1.json:4'],
      ['teams.damaged_file', `teams/t1/messages_t1.json/${CHANNEL.Id}`],
      ['teams.file', 'readme.txt:1'].map((part) => part.replace(':1', '')),
      ['teams.teamInstalledApps', 'teams/t1/teamInstalledApps_t1.json:2'],
      ['teams.meetings', 'users/u1/meetings_u1.json:2'],
    ]);
  });

  it('bounds nested HTML', async () => {
    expect(JSON.stringify(await contentOf(`${'<div>'.repeat(3000)}deep${'<b>'.repeat(3000)}x`))).toContain('deep');
    expect(JSON.stringify(await contentOf(`${'<ul><li>'.repeat(3000)}deep`))).toContain('deep');
    expect(JSON.stringify(await contentOf(`${'<table><tr><td>'.repeat(1000)}deep`))).toContain('deep');
    // Each paragraph would repeat all open elements before it.
    const explosive = Array.from({ length: 20_000 }, (_, index) => `<p><b id="${index}">`).join('');
    expect((await contentOf(`${explosive}deep`)) as string).toContain('deep');
  });
});
