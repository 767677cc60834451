import type { Caller } from '@parley/domain/kernel';
import { IntegerParam, NoParameters, TextParam } from '../params/params.js';
import { success } from '../wire/reply.js';
import { type AnonymousClient, route } from './route.js';

class RenameDto {
  @IntegerParam() stream_id!: number;
  @TextParam({ max: 100 }) new_name!: string;
}

class Rename {
  static readonly inject = [] as const;

  async execute(_caller: Caller, input: { channelId: number; name: string }): Promise<{ old: string }> {
    return { old: input.name };
  }
}

class ListChannels {
  static readonly inject = [] as const;

  async execute(_caller: Caller): Promise<readonly string[]> {
    return [];
  }
}

class LogIn {
  static readonly inject = [] as const;

  async execute(_visitor: AnonymousClient, _input: string): Promise<void> {}
}

const toInput = ({ stream_id, new_name }: RenameDto) => ({ channelId: stream_id, name: new_name });

it('route describes an operation completely', () => {
  const rename = route('PATCH', '/streams/:stream_id', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: RenameDto,
    useCase: Rename,
    toInput,
  });
  expect(rename).toMatchObject({
    method: 'PATCH',
    path: '/streams/:stream_id',
    auth: 'user',
    scope: 'account',
    dto: RenameDto,
    useCase: Rename,
    limit: 'api_by_user',
    roleRequirements: [],
    body: 'form',
  });
});

it('route limits long polls separately and anonymous callers by address', () => {
  const handle = async () => success();
  expect(
    route('GET', '/events', {
      summary: null,
      auth: 'user',
      scope: 'account',
      dto: NoParameters,
      handle,
      longPoll: true,
    }).limit,
  ).toBe('events_by_user');
  expect(route('GET', '/open', { summary: null, auth: 'anyone', dto: NoParameters, handle }).limit).toBe('api_by_ip');
  expect(
    route('GET', '/picture', { summary: null, auth: 'anyone', dto: NoParameters, handle, limit: 'none' }).limit,
  ).toBe('none');
});

it('route enforces matching types at compile time', () => {
  const user = { summary: null, auth: 'user', scope: 'account', dto: RenameDto } as const;
  route('PATCH', '/x', {
    ...user,
    useCase: Rename,
    toInput,
    present: ({ old }, { dto, caller }) => ({ old, dto, caller }),
  });
  route('GET', '/x', {
    ...user,
    useCase: ListChannels,
    present: (names) => ({ names: names.map((name) => name.trim()) }),
  });
  route('POST', '/x', {
    ...user,
    useCase: Rename,
    handle: async ({ useCase, caller, dto }) => success(await useCase.execute(caller, toInput(dto))),
  });
  route('POST', '/x', {
    summary: null,
    auth: 'anyone',
    dto: RenameDto,
    useCase: LogIn,
    toInput: ({ new_name }) => new_name,
  });

  // @ts-expect-error the input lacks a name
  route('PATCH', '/x', { ...user, useCase: Rename, toInput: ({ stream_id }) => ({ channelId: stream_id }) });
  // @ts-expect-error the use case needs an input
  route('PATCH', '/x', { ...user, useCase: Rename });
  // @ts-expect-error the DTO has no such member
  route('PATCH', '/x', { ...user, useCase: Rename, toInput: ({ nope }) => ({ channelId: nope, name: '' }) });
  // @ts-expect-error the output has no such member
  route('PATCH', '/x', { ...user, useCase: Rename, toInput, present: ({ nope }) => ({ nope }) });
  // @ts-expect-error a visitor is not a caller
  route('PATCH', '/x', { summary: null, auth: 'anyone', dto: RenameDto, useCase: Rename, toInput });
  const bare = { auth: 'user', scope: 'account', dto: NoParameters, useCase: ListChannels } as const;
  // @ts-expect-error the scope is missing
  route('GET', '/x', { summary: null, auth: 'user', dto: NoParameters, useCase: ListChannels });
  // @ts-expect-error the summary is missing
  route('GET', '/x', bare);
  // @ts-expect-error the section is missing
  route('GET', '/x', { ...bare, summary: 'List channels' });
  // @ts-expect-error the contract has no such section
  route('GET', '/x', { ...bare, summary: 'List channels', section: 'channels' });
  // @ts-expect-error an operation of the contract is not an extension
  route('GET', '/x', { ...bare, summary: 'List channels', section: 'channels §4', extension: 'extensions §1' });

  const anyone = { summary: null, auth: 'anyone', dto: NoParameters, handle: async () => success() } as const;
  // @ts-expect-error role requirements need somebody to look up
  route('GET', '/x', { ...anyone, roleRequirements: ['owner'] });
});
