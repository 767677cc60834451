import { parseFlagChange } from '@parley/domain/messages';
import { type Dto, parse } from '../params/params.js';
import { HttpRefusal } from '../wire/reply.js';
import { Parameters } from '../wire/request.js';
import {
  ChangeMessageFlagsDto,
  ChangeNarrowFlagsDto,
  GetMessagesDto,
  isReadingClient,
  SendMessageDto,
  toChangeNarrowFlagsInput,
  toFlagChange,
  toGetMessagesInput,
  toSendMessageInput,
} from './message.dtos.js';

function attempt<T extends object, R>(dto: Dto<T>, fields: Record<string, string>, then: (dto: T) => R): unknown {
  try {
    return then(parse(dto, {}, new Parameters(new Map(Object.entries(fields)))).dto);
  } catch (error) {
    if (error instanceof HttpRefusal) return error.message;
    throw error;
  }
}

describe('toGetMessagesInput', () => {
  const ask = (fields: Record<string, string>) => attempt(GetMessagesDto, fields, toGetMessagesInput);
  const combination =
    'Unsupported parameter combination: num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';

  it('parses a range around an anchor', () => {
    expect(ask({ anchor: '7', num_before: '2', num_after: '3', include_anchor: 'false' })).toEqual({
      narrow: [],
      select: { anchor: { kind: 'id', id: 7 }, before: 2, after: 3, includeAnchor: false },
    });
  });

  it('parses a list of message ids', () => {
    expect(ask({ message_ids: '[3,1]' })).toEqual({ narrow: [], select: { ids: [3, 1] } });
  });

  it('prefers the first unread message to an explicit anchor', () => {
    expect(ask({ anchor: '0', use_first_unread_anchor: 'true', num_before: '1', num_after: '1' })).toMatchObject({
      select: { anchor: { kind: 'firstUnread' } },
    });
    expect(ask({ anchor: '0', use_first_unread_anchor: 'false', num_before: '1', num_after: '1' })).toMatchObject({
      select: { anchor: { kind: 'id', id: 0 } },
    });
  });

  it('accepts a date as anchor', () => {
    const range = { anchor: 'date', anchor_date: '1970-01-02', num_before: '0', num_after: '1' };
    expect(ask(range)).toMatchObject({ select: { anchor: { kind: 'date', since: 86_400 } } });
    expect(ask({ ...range, anchor_date: 'never' })).toBe('Invalid anchor_date');
  });

  // Validation order of messages §5.2: each row has the named fault and all later ones.
  it.each([
    [{ include_anchor: 'maybe', num_before: '-1', anchor: 'abc' }, 'include_anchor is not valid JSON'],
    [{ num_before: '-1', num_after: '', narrow: '{}' }, 'num_before is too small'],
    [{ num_after: '', narrow: '{}', message_ids: '[-1]' }, 'num_after is not valid JSON'],
    [{ narrow: '{}', message_ids: '[-1]' }, 'narrow is not a list'],
    [{ message_ids: '[-1]', client_gravatar: '1' }, 'message_ids[0] is too small'],
    [{ client_gravatar: '1', apply_markdown: '1' }, 'client_gravatar is not a boolean'],
    [{ client_extavatar: '1', apply_markdown: '1' }, 'client_gravatar is not a boolean'],
    [{ apply_markdown: 'x', message_ids: '[1]', anchor: 'abc' }, 'apply_markdown is not valid JSON'],
    [{ message_ids: '[1]', anchor: 'abc' }, combination],
    [{ message_ids: '[1]', num_before: '0' }, combination],
    [{ message_ids: '[1]', num_after: '0' }, combination],
    [{ message_ids: '[1]', include_anchor: 'true' }, combination],
    [{ message_ids: '[1]', use_first_unread_anchor: 'false' }, combination],
    [{}, "Missing 'anchor' argument."],
    [{ use_first_unread_anchor: 'false' }, "Missing 'anchor' argument."],
    [{ anchor: 'abc' }, 'Invalid anchor'],
    [{ anchor: 'date' }, "Missing 'anchor_date' argument."],
    [{ anchor: 'newest', num_after: '1' }, "Missing 'num_before' argument"],
    [{ anchor: 'newest', num_before: '1' }, "Missing 'num_after' argument"],
  ] as [Record<string, string>, string][])('rejects %j', (fields, message) => {
    expect(ask(fields)).toBe(message);
  });
});

describe('toSendMessageInput', () => {
  const send = (fields: Record<string, string>, client = 'a script') =>
    attempt(SendMessageDto, { type: 'stream', to: '5', topic: 'x', content: 'y', ...fields }, (dto) =>
      toSendMessageInput(dto, client),
    );

  it('accepts the older names', () => {
    const old = { type: 'private', to: '[9]', subject: 'old', content: 'y' };
    expect(attempt(SendMessageDto, old, (dto) => toSendMessageInput(dto, ''))).toMatchObject({
      to: { kind: 'userIds', ids: [9] },
      topic: 'old',
    });
    expect(send({ subject: 'both' })).toBe("Can't decide between 'topic' and 'subject' arguments");
  });

  it('distinguishes an empty topic from a missing topic', () => {
    expect(send({ topic: '' })).toMatchObject({ topic: '' });
    expect(
      attempt(SendMessageDto, { type: 'channel', content: 'y' }, (dto) => toSendMessageInput(dto, '')),
    ).toMatchObject({ topic: null, to: { kind: 'defaultChannel' } });
  });

  it('enables the local echo only with both queue id and local id', () => {
    expect(send({ queue_id: 'q', local_id: '17.01' })).toMatchObject({ echo: { queueId: 'q', localId: '17.01' } });
    expect(send({ queue_id: 'q' })).toMatchObject({ echo: null });
    expect(send({ local_id: '1' })).toMatchObject({ echo: null });
  });

  it('marks the message as read according to read_by_sender or the client', () => {
    expect(send({}, 'ZulipMobile')).toMatchObject({ isReadBySender: true });
    expect(send({}, 'a script')).toMatchObject({ isReadBySender: false });
    expect(send({ read_by_sender: 'false' }, 'website')).toMatchObject({ isReadBySender: false });
    expect(send({ read_by_sender: 'true' }, 'a script')).toMatchObject({ isReadBySender: true });
  });

  it.each(['website', 'ZulipTerminal', 'IOS', 'Snipe', 'My Desktop App 2'])(
    'treats %s as a client that displays messages',
    (name) => {
      expect(isReadingClient(name)).toBe(true);
    },
  );

  it.each(['', 'ZulipPython', 'Mozilla', 'websites', 'Unspecified'])(
    'treats %j as a client that does not display messages',
    (name) => {
      expect(isReadingClient(name)).toBe(false);
    },
  );

  it.each([
    [{ type: 'groups', to: '[]', read_by_sender: 'x' }, 'Invalid type'],
    [{ to: '[]', read_by_sender: 'x' }, 'read_by_sender is not valid JSON'],
    [{ to: '[]' }, 'Expected exactly one channel'],
  ] as [Record<string, string>, string][])('rejects %j', (fields, message) => {
    expect(send(fields)).toBe(message);
  });

  it('reports missing parameters in order', () => {
    const missing = (fields: Record<string, string>) => attempt(SendMessageDto, fields, () => null);
    expect(missing({})).toBe("Missing 'type' argument");
    expect(missing({ type: 'direct' })).toBe("Missing 'content' argument");
  });
});

describe('flag change', () => {
  const change = (op: string, flag: string) => {
    try {
      return parseFlagChange(toFlagChange({ op, flag }));
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each(['read', 'starred', 'collapsed'])('accepts %s', (flag) => {
    expect(change('add', flag)).toEqual({ op: 'add', flag });
    expect(change('remove', flag)).toEqual({ op: 'remove', flag });
  });

  it.each`
    op       | flag                           | message
    ${'x'}   | ${'purple'}                    | ${"Invalid flag: 'purple'"}
    ${'add'} | ${'wildcard_mentioned'}        | ${"Invalid flag: 'wildcard_mentioned'"}
    ${'add'} | ${'is_private'}                | ${"Invalid flag: 'is_private'"}
    ${'x'}   | ${'mentioned'}                 | ${"Flag not editable: 'mentioned'"}
    ${'add'} | ${'stream_wildcard_mentioned'} | ${"Flag not editable: 'stream_wildcard_mentioned'"}
    ${'add'} | ${'topic_wildcard_mentioned'}  | ${"Flag not editable: 'topic_wildcard_mentioned'"}
    ${'add'} | ${'group_mentioned'}           | ${"Flag not editable: 'group_mentioned'"}
    ${'add'} | ${'has_alert_word'}            | ${"Flag not editable: 'has_alert_word'"}
    ${'add'} | ${'historical'}                | ${"Flag not editable: 'historical'"}
    ${'x'}   | ${'read'}                      | ${"Invalid message flag operation: 'x'"}
  `('rejects $op $flag: $message', ({ op, flag, message }) => {
    expect(change(op, flag)).toBe(message);
  });

  it('reports missing parameters in order', () => {
    const missing = (fields: Record<string, string>) => attempt(ChangeMessageFlagsDto, fields, () => null);
    expect(missing({})).toBe("Missing 'messages' argument");
    expect(missing({ messages: '["1"]' })).toBe('messages[0] is not an integer');
    expect(missing({ messages: '[]' })).toBe("Missing 'op' argument");
    expect(missing({ messages: '[]', op: 'add' })).toBe("Missing 'flag' argument");
  });

  it('reports missing narrow parameters in order and accepts no dates', () => {
    const given: Record<string, string> = {};
    const ask = () => attempt(ChangeNarrowFlagsDto, given, toChangeNarrowFlagsInput);
    for (const [name, value] of Object.entries({
      anchor: 'date',
      num_before: '1',
      num_after: '0',
      narrow: '[]',
      op: 'add',
      flag: 'read',
    })) {
      expect(ask()).toBe(`Missing '${name}' argument`);
      given[name] = value;
    }
    expect(ask()).toBe('Invalid anchor');
    given.anchor = 'newest';
    expect(ask()).toEqual({
      narrow: [],
      range: { anchor: { kind: 'newest' }, before: 1, after: 0, includeAnchor: true },
      op: 'add',
      flag: 'read',
    });
  });
});
