import { blackPng } from '@parley/testkit';
import type { LargeOrganization } from '../testing/large-organization.js';
import type { Fields } from './routes.js';

/** Context that inputs may use and modify beforehand. */
export interface InputContext {
  readonly organization: LargeOrganization;
  /** Message that anonymous callers can read. */
  readonly webPublicMessageId: number;
  readonly webPublicChannelId: number;
  /** Unique per use. */
  readonly n: number;
  /** Returns an event queue id of the caller. */
  readonly openQueue: () => Promise<string>;
  /** Returns the id of a user who may be deactivated. */
  readonly aMember: () => number;
  /** Creates a custom profile field and returns its id. */
  readonly makeProfileField: () => Promise<number>;
  /** Creates a group of the caller with these members and returns its id. */
  readonly makeGroup: (members: readonly number[]) => Promise<number>;
  /** Adds a reaction of the caller and returns its identifiers. */
  readonly react: () => Promise<Reacted>;
  /** Creates an object of the caller and returns its id. */
  readonly addBot: () => Promise<number>;
  /** Creates a channel of the caller and returns its id. */
  readonly makeChannel: (name: string) => Promise<number>;
  /** Creates an object of the caller and returns its id. */
  readonly addDevice: () => Promise<number>;
  /** Creates a device registered with the push service and returns its id. */
  readonly registerDevice: () => Promise<number>;
  /** Registers a legacy push token of the caller and returns it. */
  readonly addToken: (kind: 'apns' | 'fcm') => Promise<string>;
  /** Uploads a file of the caller; returns its id and the end of its URL. */
  readonly upload: () => Promise<{ readonly id: number; readonly path: string }>;
  /** Uploads an image of the caller; returns the end of the URL of an existing thumbnail. */
  readonly uploadImage: (image: Buffer) => Promise<string>;
  /** Starts an upload with the given headers; returns the end of its URL. */
  readonly beginUpload: (headers: Fields) => Promise<string>;
  /** Sends a page form without credentials. */
  readonly sendForm: (path: string, fields: Fields) => Promise<unknown>;
  /** Returns the key of the link in the newest email to an address. */
  readonly keyEmailedTo: (email: string) => Promise<string>;
  /** Adds an animated emoji as the caller. */
  readonly addEmoji: () => Promise<{ readonly id: string; readonly name: string }>;
  /** Sends a successful GET of the caller and returns its fields. */
  readonly get: (path: string) => Promise<Fields>;
  /** Sends a successful POST of the caller and returns its fields. */
  readonly post: (path: string, fields: Fields) => Promise<Fields>;
}

export interface Reacted extends Fields {
  readonly message_id: number;
  readonly emoji_name: string;
}

/** Device registration of maximum length. */
export const PUSH_REGISTRATION = {
  push_key_id: 4_294_967_295,
  push_key: Buffer.from('1'.repeat(33)).toString('base64'),
  token_kind: 'apns',
  token_id: 'AAAAAAAAAAA=',
  bouncer_public_key: 'x'.repeat(44),
  encrypted_push_registration: 'x'.repeat(7000),
};

/** Image with the maximum number of pixels. */
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

/** Returns the id. */
export const messageIn = async ({ post, organization }: InputContext, topic: string): Promise<unknown> => {
  const { id } = await post('/messages', { type: 'channel', to: organization.channelIds[0], topic, content: 'x' });
  return id;
};

export async function linkToAllChannels({ post, organization: { channelIds } }: InputContext): Promise<Fields> {
  const { invite_link: link } = await post('/invites/multiuse', { stream_ids: channelIds.slice(0, 1000) });
  return { key: String(link).split('/').at(-2) };
}

/** Secret for tokens of the organization. */
export const JWT_SECRET = 'what a test shares with another service';

/** Inputs by operation and content. */
export type Inputs = Readonly<Record<string, Readonly<Record<string, Input>>>>;
