import type { TokenToCreate } from '@parley/server';
import { fieldsOf, type Wire } from './expectations.js';
import type { TestReply } from './test-reply.js';
import type { RequestOptions, TestServer, TestUser } from './test-server.js';

type Params = RequestOptions['params'];

/** Creates a token with `readers: 'all'`, by default for the channel `room`. */
export const createAgentToken = (server: TestServer, bot: TestUser, more: Partial<TokenToCreate> = {}) =>
  server.parley.tokens.create({
    user: ownerOf(server, bot),
    conversations: [{ channel: 'room' }],
    actions: ['read', 'write'],
    readers: 'all',
    ...more,
  });

export const ownerOf = ({ url }: TestServer, { id }: TestUser) => ({
  realm: new URL(url).hostname.split('.')[0]!,
  userId: id,
});

export type Agent = Awaited<ReturnType<typeof startAgent>>;

/** Creates a token and returns its requests. Messages have a new context by default. */
export async function startAgent(server: TestServer, bot: TestUser, more: Partial<TokenToCreate> = {}) {
  const { id, token } = await createAgentToken(server, bot, more);
  const request = (method: string, path: string, params?: Params, context?: string) =>
    server.request(method, path, {
      params,
      headers: { Authorization: `Bearer ${token}`, ...(context && { 'X-Parley-Context': context }) },
    });
  const page = { anchor: 'newest', num_before: 100, num_after: 0 };
  return {
    id,
    token,
    request,
    read: (context?: string, params: Params = {}) => request('GET', '/messages', { ...page, ...params }, context),
    say: (to: number, content: string, context = 'new') =>
      request('POST', '/messages', { type: 'stream', to, topic: 'answers', content }, context),
  };
}

export const contextOf = ({ headers }: TestReply) => String(headers['x-parley-context']);

/** Returns the texts of messages, except notices. */
export const textsIn = (reply: TestReply): string[] =>
  (fieldsOf(reply).messages as Wire[])
    .filter((message: Wire) => message.sender_full_name !== 'Notification Bot')
    .map(({ content }: Wire) => content.replace(/<\/?p>/g, ''));
