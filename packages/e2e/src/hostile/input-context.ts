import { blackPng } from '@parley/testkit';
import type { LargeOrganization } from '../testing/large-organization.js';
import type { Fields } from './routes.js';

/** What an input may refer to, and make beforehand. */
export interface InputContext {
  readonly organization: LargeOrganization;
  /** What anybody may read. */
  readonly webPublicMessageId: number;
  readonly webPublicChannelId: number;
  /** Different each time. */
  readonly n: number;
  /** Of an event queue of whoever calls. */
  readonly openQueue: () => Promise<string>;
  /** Somebody who may be deactivated, by id. */
  readonly aMember: () => number;
  /** A custom profile field; answers its id. */
  readonly makeProfileField: () => Promise<number>;
  /** Of whoever calls, with these members; answers its id. */
  readonly makeGroup: (members: readonly number[]) => Promise<number>;
  /** Of whoever calls, to a message; answers what it is called by. */
  readonly react: () => Promise<Reacted>;
  /** Of whoever calls; answers its id. */
  readonly addBot: () => Promise<number>;
  /** Made by whoever calls; answers its id. */
  readonly makeChannel: (name: string) => Promise<number>;
  /** Of whoever calls; answers its id. */
  readonly addDevice: () => Promise<number>;
  /** The same, known to the push service. */
  readonly registerDevice: () => Promise<number>;
  /** Of whoever calls, in the way of older apps; answers it. */
  readonly addToken: (kind: 'apns' | 'fcm') => Promise<string>;
  /** A file of whoever calls; answers its id and what its address ends in. */
  readonly upload: () => Promise<{ readonly id: number; readonly path: string }>;
  /** An image of whoever calls; answers what the address of a thumbnail ends in, which is there. */
  readonly uploadImage: (image: Buffer) => Promise<string>;
  /** With the headers of its first request; answers what its address ends in. */
  readonly beginUpload: (headers: Fields) => Promise<string>;
  /** Sends the form of a page, without credentials. */
  readonly sendForm: (path: string, fields: Fields) => Promise<unknown>;
  /** The key of the link in the newest letter to an address. */
  readonly keyMailedTo: (email: string) => Promise<string>;
  /** Adds an animated emoji as the caller. */
  readonly addEmoji: () => Promise<{ readonly id: string; readonly name: string }>;
  /** A successful GET of whoever calls; answers its fields. */
  readonly get: (path: string) => Promise<Fields>;
  /** A successful POST of whoever calls; answers its fields. */
  readonly post: (path: string, fields: Fields) => Promise<Fields>;
}

export interface Reacted extends Fields {
  readonly message_id: number;
  readonly emoji_name: string;
}

/** Of a device, as long as it may be. */
export const PUSH_REGISTRATION = {
  push_key_id: 4_294_967_295,
  push_key: Buffer.from('1'.repeat(33)).toString('base64'),
  token_kind: 'apns',
  token_id: 'AAAAAAAAAAA=',
  bouncer_public_key: 'x'.repeat(44),
  encrypted_push_registration: 'x'.repeat(7000),
};

/** As many as an image may have. */
export const MANY_PIXELS = blackPng(9000, 9000);

export type Input = (surroundings: InputContext) => Fields | Promise<Fields>;

export const peopleOf = ({ organization: { owners, members } }: InputContext): readonly number[] =>
  [...owners, ...members].map(({ id }) => id);
export const lengthened = (text: string, length: number) => text.padEnd(length, 'x');

export const newChannels = ({ n }: InputContext, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: lengthened(`New ${n} ${index} `, 60),
    description: lengthened('About ', 800),
  }));

export const owner: Input = ({ organization: { owners } }) => ({ user_id: owners[1]!.id, email: owners[1]!.email });

/** Answers its id. */
export const messageIn = async ({ post, organization }: InputContext, topic: string): Promise<unknown> => {
  const { id } = await post('/messages', { type: 'channel', to: organization.channelIds[0], topic, content: 'x' });
  return id;
};

export async function linkToAllChannels({ post, organization: { channelIds } }: InputContext): Promise<Fields> {
  const { invite_link: link } = await post('/invites/multiuse', { stream_ids: channelIds.slice(0, 1000) });
  return { key: String(link).split('/').at(-2) };
}

/** Of tokens for the organization. */
export const JWT_SECRET = 'what a test shares with another service';

/** By operation, and by what is sent. */
export type Inputs = Readonly<Record<string, Readonly<Record<string, Input>>>>;
