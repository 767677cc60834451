import { getOrThrow, isParsableUrl, isUrl, parseLongJson, type RealmUrls, type UserId } from '@parley/domain/kernel';
import {
  type AvatarUpload,
  type BotChange,
  type BotEventTypes,
  type BotView,
  CreateBot,
  DeactivateBot,
  GetBotApiKey,
  GetBotStorage,
  type KeyedBot,
  ListOwnBots,
  loadBots,
  MAX_BOT_STORAGE_SIZE,
  type MeasuredEntry,
  measured,
  type OutgoingWebhook,
  PutBotStorage,
  RegenerateApiKey,
  RegenerateBotApiKey,
  RemoveBotStorage,
  type StoredEntry,
  UpdateBot,
  type UpdatedBot,
  type WebhookInterface,
} from '@parley/domain/membership';
import { type BotKind, publicAddress } from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import { imageUpload, TAKES_IMAGE } from '../files/images.js';
import { TRANSPORT_LIMITS } from '../limits/budgets.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { PresentedList } from '../params/json-lists.js';
import {
  json,
  MAX_IDS,
  MAX_TEXT_LENGTH,
  NOT_JSON,
  type ParamType,
  recordOf,
  refine,
  text,
  unparsed,
} from '../params/param-types.js';
import {
  BooleanParam,
  checkedParam,
  definedFields,
  IntegerOneOfParam,
  IntegerParam,
  NoParameters,
  param,
  TextListParam,
  TextParam,
} from '../params/params.js';
import { avatarUrl } from '../users/avatar-urls.js';
import { BOT_TYPES, ROLE_NUMBERS, ROLES_BY_NUMBER } from '../users/user.presenters.js';
import { personForm } from '../users/user-page.js';
import { TextChunks } from '../wire/caches.js';
import { success, type WireFields, WireText } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';

const DEFAULTS = {
  default_sending_stream: wire.nullable(wire.text()),
  default_events_register_stream: wire.nullable(wire.text()),
  default_all_public_streams: wire.boolean(),
};

const CHANGEABLE = {
  ...DEFAULTS,
  services: wire.listOf(wire.fields({ base_url: wire.text(), interface: wire.integer(), token: wire.text() })),
};

/** Bot fields visible to its owner and administrators in addition to the public ones (events §3.2). */
export const bot = wire.named('Bot', wire.fields({ user_id: wire.integer(), ...CHANGEABLE }));

/** Changed bot fields. */
export const botChange = wire.fields({ user_id: wire.integer(), ...wire.optionalFields(CHANGEABLE) });

/** Response of bot creation (users §15). */
export const CREATED_BOT = wire.fields({
  user_id: wire.integer(),
  email: wire.text(),
  api_key: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  ...DEFAULTS,
});

/** Response listing the user's own bots (users §15). */
export const OWN_BOTS = wire.fields({
  bots: wire.listOf(
    wire.fields({
      username: wire.text(),
      full_name: wire.text(),
      api_key: wire.text(),
      avatar_url: wire.nullable(wire.text()),
      ...DEFAULTS,
    }),
  ),
});

/** Response of a bot change (users §15). */
export const CHANGED_BOT = wire.fields({
  full_name: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  service_interface: wire.integer(),
  service_payload_url: wire.nullable(wire.text()),
  config_data: wire.anything(),
  ...DEFAULTS,
  bot_owner: wire.optional(wire.text()),
});

export const WEBHOOK_INTERFACE_NUMBERS: Readonly<Record<WebhookInterface, number>> = { generic: 1, slack: 2 };

const presentServices = (webhook: OutgoingWebhook | null): readonly WireFields[] =>
  webhook === null
    ? []
    : [{ base_url: webhook.url, interface: WEBHOOK_INTERFACE_NUMBERS[webhook.interface], token: webhook.token }];

/** Users §15, events §3.2. */
export const presentBot = ({ botId, ...view }: BotView): WireFields => ({ user_id: botId, ...presentBotChange(view) });

/** Presents only the changed bot fields. */
export const presentBotChange = (change: BotChange): WireFields => ({
  ...(change.sendingChannel !== undefined && { default_sending_stream: change.sendingChannel }),
  ...(change.eventsChannel !== undefined && { default_events_register_stream: change.eventsChannel }),
  ...(change.allPublicChannels !== undefined && { default_all_public_streams: change.allPublicChannels }),
  ...(change.webhook !== undefined && { services: presentServices(change.webhook) }),
});

const presentDefaults = ({ sendingChannel, eventsChannel, allPublicChannels }: BotView): WireFields =>
  presentBotChange({ sendingChannel, eventsChannel, allPublicChannels });

const avatarOf = ({ user }: Pick<KeyedBot, 'user'>, publicRealm: PublicRealm): string | null =>
  avatarUrl(user, publicRealm, { seesEmail: true, clientGravatar: false });

export const presentCreatedBot = (bot: KeyedBot, publicRealm: PublicRealm): WireFields => ({
  user_id: bot.user.id,
  email: bot.user.email,
  api_key: bot.apiKey,
  avatar_url: avatarOf(bot, publicRealm),
  ...presentDefaults(bot.view),
});

export const presentOwnBot = (bot: KeyedBot, publicRealm: PublicRealm): WireFields => ({
  username: bot.user.email,
  full_name: bot.user.fullName,
  api_key: bot.apiKey,
  avatar_url: avatarOf(bot, publicRealm),
  ...presentDefaults(bot.view),
});

export const presentUpdatedBot = ({ user, view, owner }: UpdatedBot, publicRealm: PublicRealm): WireFields => ({
  full_name: user.fullName,
  avatar_url: avatarOf({ user }, publicRealm),
  service_interface: WEBHOOK_INTERFACE_NUMBERS[view.webhook?.interface ?? 'generic'],
  service_payload_url: view.webhook?.url ?? null,
  config_data: null,
  ...presentDefaults(view),
  ...(owner && { bot_owner: publicAddress(owner, publicRealm.emailDomain) }),
});

export const BOT_EVENTS = {
  'bot.added': toAll(form('realm_bot', { op: wire.oneOf('add'), bot }), (event) => ({
    op: 'add',
    bot: presentBot(event.bot),
  })),
  'bot.changed': toAll(form('realm_bot', { op: wire.oneOf('update'), bot: botChange }), ({ botId, change }) => ({
    op: 'update',
    bot: { user_id: botId, ...presentBotChange(change) },
  })),
  'bot.taken_away': toAll(
    form('realm_bot', { op: wire.oneOf('delete'), bot: wire.fields({ user_id: wire.integer() }) }),
    ({ botId }) => ({ op: 'delete', bot: { user_id: botId } }),
  ),
  'bot.owner_changed': toAll(personForm({ bot_owner_id: wire.nullable(wire.integer()) }), ({ botId, ownerId }) => ({
    op: 'update',
    person: { user_id: botId, bot_owner_id: ownerId },
  })),
} satisfies Presenters<keyof BotEventTypes>;

export const botsSection: RegisterSection = registerSection({
  name: 'realm_bot',
  fields: { realm_bots: wire.listOf(bot) },
  forSpectators: { realm_bots: [] },
  load: (snapshot) => snapshot.load(loadBots),
  present: (bots) => ({ realm_bots: new PresentedList(bots, presentBot) }),
});

const OWN_KEY = wire.fields({ api_key: wire.text() });

const MAX_URL_LENGTH = 2000;
const MAX_CONFIG_ENTRIES = 100;

/** JSON string that is empty or a web URL. */
const webhookUrl: ParamType<string> = json(
  refine(text({ max: MAX_URL_LENGTH }), (url) =>
    url === '' || isWebAddress(url) ? undefined : 'Invalid {p}: Value error, Not a URL',
  ),
);

/** Web address of a machine in the operator's network, such as `http://shop:8080/hook`. */
const MACHINE_URL = /^https?:\/\/[a-z](?:[\w-]{0,61}[a-z\d])?(?::\d{1,5})?(?:[/?#]\S*)?$/i;

const isWebAddress = (url: string): boolean =>
  /^https?:/i.test(url) && (isUrl(url) || MACHINE_URL.test(url)) && isParsableUrl(url);

const TEXT = { max: MAX_TEXT_LENGTH };
const config = recordOf(text(TEXT), { max: MAX_CONFIG_ENTRIES, maxKeyLength: 100 });

class CreateBotDto {
  @TextParam(TEXT) full_name!: string;
  @TextParam(TEXT) short_name!: string;
  @IntegerParam({ description: 'Type: 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded.' }) bot_type =
    BOT_TYPES.generic;
  @param(webhookUrl, { description: 'URL to which messages are posted.' }) payload_url = '';
  @TextParam({ ...TEXT, optional: true, description: 'Name of the embedded service.' }) service_name?: string;
  @IntegerParam({ description: 'Format of requests: 1 generic, 2 Slack.' }) interface_type =
    WEBHOOK_INTERFACE_NUMBERS.generic;
  @param(config, { optional: true }) config_data?: Record<string, string>;
  @TextParam({ ...TEXT, optional: true }) default_sending_stream?: string;
  @TextParam({ ...TEXT, optional: true }) default_events_register_stream?: string;
  @BooleanParam() default_all_public_streams = false;
}

class UpdateBotDto {
  @IntegerParam() bot_id!: number;
  @TextParam({ ...TEXT, optional: true }) full_name?: string;
  @TextParam({ ...TEXT, optional: true }) short_name?: string;
  @IntegerOneOfParam(Object.values(ROLE_NUMBERS), { optional: true }) role?: number;
  @IntegerParam({ optional: true, description: 'Id of the new owner.' }) bot_owner_id?: number;
  @param(config, { optional: true }) config_data?: Record<string, string>;
  @param(webhookUrl, { optional: true, description: 'URL to which messages are posted.' }) service_payload_url?: string;
  @IntegerParam({ optional: true, description: 'Format of requests: 1 generic, 2 Slack.' }) service_interface?: number;
  @TextParam({ ...TEXT, optional: true }) default_sending_stream?: string;
  @TextParam({ ...TEXT, optional: true }) default_events_register_stream?: string;
  @BooleanParam({ optional: true }) default_all_public_streams?: boolean;
}

class BotDto {
  @IntegerParam() bot_id!: number;
}

const wordOf = <W extends string>(numbers: Readonly<Record<W, number>>, number: number): W | 'unknown' =>
  (Object.keys(numbers) as W[]).find((word) => numbers[word] === number) ?? 'unknown';

const kindOf = (type: number): BotKind | 'unknown' => wordOf(BOT_TYPES, type);
const interfaceOf = (type: number): WebhookInterface | 'unknown' => wordOf(WEBHOOK_INTERFACE_NUMBERS, type);

const avatarUpload = (request: Request): AvatarUpload =>
  imageUpload(request) ?? (request.files.length > 0 ? 'several' : null);

const toBot = ({ bot_id }: BotDto) => ({ botId: bot_id as UserId });
const presentKey = (apiKey: string) => ({ api_key: apiKey });

const ON_BOTS = { section: 'users §15', auth: 'user', scope: 'account' } as const;

export function botRoutes(realmUrls: RealmUrls): readonly Route[] {
  return [...managedBotRoutes(realmUrls), ...apiKeyRoutes()];
}

function managedBotRoutes(realmUrls: RealmUrls): readonly Route[] {
  return [
    route('POST', '/bots', {
      summary: 'Create a bot',
      ...ON_BOTS,
      lacks: '`config_data` is ignored',
      ...TAKES_IMAGE,
      roleRequirements: ['human', 'member'],
      dto: CreateBotDto,
      useCase: CreateBot,
      toInput: (dto, request) => ({
        fullName: dto.full_name,
        shortName: dto.short_name,
        kind: kindOf(dto.bot_type),
        webhookUrl: dto.payload_url,
        webhookInterface: interfaceOf(dto.interface_type),
        sendingChannel: dto.default_sending_stream ?? null,
        eventsChannel: dto.default_events_register_stream ?? null,
        allPublicChannels: dto.default_all_public_streams,
        avatar: avatarUpload(request),
      }),
      response: CREATED_BOT,
      present: (bot) => presentCreatedBot(bot, publicRealmOf(bot.realm, realmUrls)),
    }),
    route('GET', '/bots', {
      summary: 'List your bots',
      ...ON_BOTS,
      withoutPage: 'state',
      roleRequirements: ['human', 'member'],
      dto: NoParameters,
      useCase: ListOwnBots,
      response: OWN_BOTS,
      present: ({ realm, bots }) => ({ bots: bots.map((bot) => presentOwnBot(bot, publicRealmOf(realm, realmUrls))) }),
    }),
    route('PATCH', '/bots/:bot_id', {
      summary: 'Change a bot',
      ...ON_BOTS,
      lacks: '`config_data` is ignored',
      ...TAKES_IMAGE,
      dto: UpdateBotDto,
      useCase: UpdateBot,
      toInput: (dto, request) =>
        definedFields({
          botId: dto.bot_id as UserId,
          fullName: dto.full_name,
          shortName: dto.short_name,
          role: dto.role === undefined ? undefined : getOrThrow(ROLES_BY_NUMBER, dto.role),
          ownerId: dto.bot_owner_id as UserId | undefined,
          webhookUrl: dto.service_payload_url,
          webhookInterface: dto.service_interface === undefined ? undefined : interfaceOf(dto.service_interface),
          sendingChannel: dto.default_sending_stream,
          eventsChannel: dto.default_events_register_stream,
          allPublicChannels: dto.default_all_public_streams,
          avatar: avatarUpload(request),
        }),
      response: CHANGED_BOT,
      present: (bot) => presentUpdatedBot(bot, publicRealmOf(bot.realm, realmUrls)),
    }),
    route('DELETE', '/bots/:bot_id', {
      summary: 'Deactivate a bot',
      ...ON_BOTS,
      dto: BotDto,
      useCase: DeactivateBot,
      toInput: toBot,
    }),
  ];
}

function apiKeyRoutes(): readonly Route[] {
  return [
    route('GET', '/bots/:bot_id/api_key', {
      summary: 'Get the API key of a bot',
      ...ON_BOTS,
      dto: BotDto,
      useCase: GetBotApiKey,
      toInput: toBot,
      response: OWN_KEY,
      present: presentKey,
    }),
    route('POST', '/bots/:bot_id/api_key/regenerate', {
      summary: 'Replace the API key of a bot',
      ...ON_BOTS,
      dto: BotDto,
      useCase: RegenerateBotApiKey,
      toInput: toBot,
      response: OWN_KEY,
      present: presentKey,
    }),
    route('POST', '/users/me/api_key/regenerate', {
      summary: 'Replace your API key',
      ...ON_BOTS,
      tag: 'Server and log-in',
      dto: NoParameters,
      useCase: RegenerateApiKey,
      response: OWN_KEY,
      present: presentKey,
    }),
  ];
}

const KEYS = { max: MAX_IDS, each: { max: MAX_TEXT_LENGTH }, optional: true };

class StoredKeysDto {
  @TextListParam({ ...KEYS, description: 'Keys of the values; all if absent.' }) keys?: string[];
}

const STORAGE = recordOf(text({ max: MAX_BOT_STORAGE_SIZE }), { max: MAX_IDS, maxKeyLength: MAX_TEXT_LENGTH });

class PutBotStorageDto {
  @param(unparsed(STORAGE, TRANSPORT_LIMITS.longBodyBytes), { description: 'Values by key.' })
  storage!: string;
}

export function botStorageRoutes(): readonly Route[] {
  const scheduler = new YieldingScheduler();
  const toInput = ({ keys = null }: { keys?: string[] | null }) => ({ keys });
  return [
    route('GET', '/bot_storage', {
      summary: 'Get values from the storage of a bot',
      section: 'users §14',
      withoutPage: 'bots',
      auth: 'user',
      scope: 'account',
      roleRequirements: ['bot'],
      isExpensive: true,
      dto: StoredKeysDto,
      useCase: GetBotStorage,
      toInput,
      response: wire.fields({ storage: wire.dictionaryOf(wire.text()) }),
      present: async (entries) => new WireText(await scheduler.runSteps(writeStorage(entries))),
    }),
    route('PUT', '/bot_storage', {
      summary: 'Store values for a bot',
      section: 'users §14',
      isStarred: true,
      withoutPage: 'bots',
      auth: 'user',
      scope: 'account',
      roleRequirements: ['bot'],
      body: 'long',
      response: wire.fields({}),
      dto: PutBotStorageDto,
      useCase: PutBotStorage,
      handle: async ({ caller, dto, useCase }) => {
        await useCase.execute(caller, { entries: await scheduler.runSteps(readStorage(dto.storage)) });
        return success();
      },
    }),
    route('DELETE', '/bot_storage', {
      summary: 'Delete values from the storage of a bot',
      section: 'users §14',
      withoutPage: 'bots',
      auth: 'user',
      scope: 'account',
      roleRequirements: ['bot'],
      dto: StoredKeysDto,
      useCase: RemoveBotStorage,
      toInput,
    }),
  ];
}

/** Parses bot storage entries, which may have millions of characters. @throws HttpRefusal */
function* readStorage(json: string): Generator<void, readonly MeasuredEntry[]> {
  let value: unknown;
  try {
    value = yield* parseLongJson(json);
  } catch {
    value = NOT_JSON;
  }
  const storage = checkedParam('storage', STORAGE, value);
  yield;
  // Keys that differ only in lone surrogates become equal; the last value counts.
  const values = new Map(Object.entries(storage).map(([key, text]) => [key.toWellFormed(), text.toWellFormed()]));
  const entries: MeasuredEntry[] = [];
  for (const [key, text] of values) {
    entries.push(measured({ key, value: text }));
    yield;
  }
  return entries;
}

/** Writes entries one by one, because the storage may hold millions of characters. */
function* writeStorage(entries: readonly StoredEntry[]): Generator<void, readonly string[]> {
  const chunks = new TextChunks();
  chunks.add('"storage":{');
  let separator = '';
  for (const { key, value } of entries) {
    chunks.add(`${separator}${JSON.stringify(key)}:${JSON.stringify(value)}`);
    separator = ',';
    yield;
  }
  chunks.add('}');
  return chunks.finish();
}

export const BOTS = {
  tag: 'Bots and integrations',
  routes: ({ realmUrls }) => [...botRoutes(realmUrls), ...botStorageRoutes()],
  events: BOT_EVENTS,
  registerSections: () => [botsSection],
} satisfies HttpFeature;
