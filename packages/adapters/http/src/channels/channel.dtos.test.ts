import { type Dto, membersOfDto, parse } from '../params/params.js';
import { HttpRefusal } from '../wire/reply.js';
import { Parameters } from '../wire/request.js';
import {
  CreateChannelDto,
  ListChannelsDto,
  ListSubscriptionsDto,
  SubscribeUsersDto,
  toChannelOptions,
  toPrincipals,
  UnsubscribeUsersDto,
} from './channel.dtos.js';

function read<T extends object>(dto: Dto<T>, fields: Record<string, string>): T | Record<string, unknown> {
  try {
    return parse(dto, {}, new Parameters(new Map(), new Map(Object.entries(fields)))).dto;
  } catch (error) {
    if (error instanceof HttpRefusal) return { code: error.code, msg: error.message, ...error.extra };
    throw error;
  }
}

const refusalOf = <T extends object>(dto: Dto<T>, fields: Record<string, string>) =>
  (read(dto, fields) as { msg?: string }).msg;

const create = (fields: Record<string, string>) =>
  read(CreateChannelDto, { name: 'x', subscribers: '[]', ...fields }) as CreateChannelDto;
const subscribe = (fields: Record<string, string>) =>
  read(SubscribeUsersDto, { subscriptions: '[{"name":"x"}]', ...fields }) as SubscribeUsersDto;

describe('channel creation', () => {
  it('reads channel parameters in contract order with the eleven permissions last', () => {
    const names = membersOfDto(CreateChannelDto).map(({ name }) => name);
    expect(names.slice(0, 5)).toEqual(['name', 'subscribers', 'description', 'announce', 'invite_only']);
    expect(names.slice(-11)).toContain('can_subscribe_group');
    expect(names.filter((name) => name.endsWith('_group'))).toHaveLength(11);
  });

  it('applies the defaults to absent channel parameters', () => {
    expect(toChannelOptions(create({}))).toEqual({
      isPrivate: false,
      isWebPublic: false,
      isDefault: false,
      folderId: null,
      topicsPolicy: 'inherit',
      sharesHistory: null,
      retention: 'asRealm',
      permissions: {},
    });
  });

  it('parses permissions of groups and users', () => {
    const { permissions } = toChannelOptions(
      create({ can_subscribe_group: '12', can_send_message_group: '{"direct_members":[7],"direct_subgroups":[3]}' }),
    );
    expect(permissions).toEqual({
      canSubscribe: 12,
      canSendMessage: { directMembers: [7], directSubgroups: [3] },
    });
  });

  it.each([
    ['30', 30],
    ['0', 0],
    ['"unlimited"', 'forever'],
    ['unlimited', 'forever'],
    ['"realm_default"', 'asRealm'],
    ['realm_default', 'asRealm'],
    ['"sometimes"', { word: 'sometimes' }],
    ['sometimes', { word: 'sometimes' }],
    ['', { word: '' }],
  ])('parses message_retention_days %s', (text, input) => {
    expect(toChannelOptions(create({ message_retention_days: text })).retention).toEqual(input);
  });

  it.each(['1.5', '1.0', 'null', '[]', 'true'])('rejects message_retention_days %j', (text) => {
    expect(create({ message_retention_days: text })).toMatchObject({
      code: 'BAD_REQUEST',
      msg: 'message_retention_days is not an integer',
    });
  });

  it.each(['empty_topic_only', '"empty_topic_only"'])('accepts topics_policy=%s', (text) => {
    expect(create({ topics_policy: text }).topics_policy).toBe('empty_topic_only');
  });

  it.each([
    [{ name: ' ', description: 'x'.repeat(1025) }, 'name cannot be blank'],
    [{ description: 'x'.repeat(1025), announce: 'x' }, 'description is too long (limit: 1024 characters)'],
    [{ topics_policy: 'sometimes' }, 'Invalid topics_policy'],
    [{ folder_id: 'x' }, 'folder_id is not valid JSON'],
    [{ subscribers: '["a@x.org"]' }, 'subscribers[0] is not an integer'],
    [{ can_subscribe_group: 'x' }, 'can_subscribe_group is not valid JSON'],
  ] as [Record<string, string>, string][])('rejects %j', (fields, message) => {
    expect((create(fields) as { msg?: string }).msg).toBe(message);
  });

  it('requires a name and subscribers', () => {
    expect(refusalOf(CreateChannelDto, {})).toBe("Missing 'name' argument");
    expect(refusalOf(CreateChannelDto, { name: 'x' })).toBe("Missing 'subscribers' argument");
  });
});

describe('SubscribeUsersDto', () => {
  it.each([
    ['{}', 'subscriptions is not a list'],
    ['["x"]', 'subscriptions[0] is not a dict'],
    ['[{"color":"#ffffff"}]', 'name key is missing from subscriptions[0]'],
    ['[{"name":5}]', 'subscriptions[0]["name"] is not a string'],
    ['[{"name":"x","color":"red"}]', 'Invalid subscriptions[0]: Value error, add.color is not a valid hex color code'],
    ['[{"name":"x","color":"#ab"}]', 'Invalid subscriptions[0]: Value error, add.color is not a valid hex color code'],
    [
      `[{"name":"x","description":"${'x'.repeat(1025)}"}]`,
      'subscriptions[0]["description"] is too long (limit: 1024 characters)',
    ],
  ])('rejects %s', (subscriptions, message) => {
    expect(refusalOf(SubscribeUsersDto, { subscriptions })).toBe(message);
  });

  it('ignores unknown fields of a subscription entry', () => {
    expect(subscribe({ subscriptions: '[{"name":"x","color":"#ABC","role":3}]' }).subscriptions).toEqual([
      { name: 'x', color: '#ABC' },
    ]);
  });

  it.each([
    ['[7,8]', [7, 8]],
    ['["a@x.org"]', { emails: ['a@x.org'] }],
    ['[]', null],
  ])('parses principals=%s', (principals, expected) => {
    expect(toPrincipals(subscribe({ principals }).principals)).toEqual(expected);
    const { principals: others } = read(UnsubscribeUsersDto, {
      subscriptions: '[]',
      principals,
    }) as UnsubscribeUsersDto;
    expect(toPrincipals(others)).toEqual(expected);
  });

  it('defaults the principals to the caller', () => {
    expect(toPrincipals(subscribe({}).principals)).toBeNull();
  });

  it.each([
    ['x', 'principals is not valid JSON'],
    ['[7,"a@x.org"]', 'principals[1] is not an integer'],
    ['7', 'principals is not a list'],
  ])('rejects principals=%s', (principals, message) => {
    expect((subscribe({ principals }) as { msg?: string }).msg).toBe(message);
  });

  it('accepts all three forms of principals', () => {
    for (const word of ['true', 'false', 'partial']) {
      expect(read(ListSubscriptionsDto, { include_subscribers: word })).toEqual({ include_subscribers: word });
    }
    expect(refusalOf(ListSubscriptionsDto, { include_subscribers: 'maybe' })).toBe('Invalid include_subscribers');
  });
});

it('ListChannelsDto declares its parameters in contract order with their defaults', () => {
  expect(membersOfDto(ListChannelsDto).map(({ name, byDefault }) => [name, byDefault])).toEqual([
    ['include_public', true],
    ['include_web_public', false],
    ['include_subscribed', true],
    ['include_owner_subscribed', false],
    ['include_can_access_content', false],
    ['include_all', false],
    ['include_all_active', false],
    ['exclude_archived', true],
    ['include_default', false],
  ]);
});
