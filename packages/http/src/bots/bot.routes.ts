import {
  CreateBot,
  DeactivateBot,
  GetBotApiKey,
  ListOwnBots,
  RegenerateApiKey,
  RegenerateBotApiKey,
  type WebhookInterface,
} from '@parley/domain/bots';
import type { RealmUrls, UserId } from '@parley/domain/shared';
import type { BotKind } from '@parley/domain/users';
import { publicRealmOf } from '../realms/public-realm.js';
import { MAX_TEXT_LENGTH } from '../routing/limits.js';
import { json, type ParamType, recordOf, refine, text } from '../routing/param-types.js';
import { BooleanParam, IntegerParam, NoParameters, param, TextParam } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';
import { BOT_TYPES } from '../users/user.presenters.js';
import { presentCreatedBot, presentOwnBot, WEBHOOK_INTERFACE_NUMBERS } from './bot.presenters.js';

const MAX_URL_LENGTH = 2000;
const MAX_CONFIG_ENTRIES = 100;

/** A JSON string: an address of the web, or nothing. */
export const webhookUrl: ParamType<string> = json(
  refine(text({ max: MAX_URL_LENGTH }), (url) => (url === '' || isWebAddress(url) ? undefined : '{p} is not a URL')),
);

const isWebAddress = (url: string): boolean =>
  URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol) && !/\s/.test(url);

const TEXT = { max: MAX_TEXT_LENGTH };
const config = recordOf(text(TEXT), { max: MAX_CONFIG_ENTRIES, maxKeyLength: 100 });

class CreateBotDto {
  @TextParam(TEXT) full_name!: string;
  @TextParam(TEXT) short_name!: string;
  @IntegerParam() bot_type = BOT_TYPES.generic;
  @param(webhookUrl) payload_url = '';
  @TextParam({ ...TEXT, optional: true }) service_name?: string;
  @IntegerParam() interface_type = WEBHOOK_INTERFACE_NUMBERS.generic;
  @param(config, { optional: true }) config_data?: Record<string, string>;
  @TextParam({ ...TEXT, optional: true }) default_sending_stream?: string;
  @TextParam({ ...TEXT, optional: true }) default_events_register_stream?: string;
  @BooleanParam() default_all_public_streams = false;
}

class BotDto {
  @IntegerParam() bot_id!: number;
}

const wordOf = <W extends string>(numbers: Readonly<Record<W, number>>, number: number): W | 'unknown' =>
  (Object.keys(numbers) as W[]).find((word) => numbers[word] === number) ?? 'unknown';

export const kindOf = (type: number): BotKind | 'unknown' => wordOf(BOT_TYPES, type);
export const interfaceOf = (type: number): WebhookInterface | 'unknown' => wordOf(WEBHOOK_INTERFACE_NUMBERS, type);

const toBot = ({ bot_id }: BotDto) => ({ botId: bot_id as UserId });
const presentKey = (apiKey: string) => ({ api_key: apiKey });

export function botRoutes(realmUrls: RealmUrls): readonly Route[] {
  return [
    route('POST', '/bots', {
      auth: 'user',
      roleRequirements: ['human', 'member'],
      dto: CreateBotDto,
      useCase: CreateBot,
      toInput: (dto) => ({
        fullName: dto.full_name,
        shortName: dto.short_name,
        kind: kindOf(dto.bot_type),
        webhookUrl: dto.payload_url,
        webhookInterface: interfaceOf(dto.interface_type),
        sendingChannel: dto.default_sending_stream ?? null,
        eventsChannel: dto.default_events_register_stream ?? null,
        allPublicChannels: dto.default_all_public_streams,
      }),
      present: (bot) => presentCreatedBot(bot, publicRealmOf(bot.realm, realmUrls)),
    }),
    route('GET', '/bots', {
      auth: 'user',
      roleRequirements: ['member'],
      dto: NoParameters,
      useCase: ListOwnBots,
      present: ({ realm, bots }) => ({ bots: bots.map((bot) => presentOwnBot(bot, publicRealmOf(realm, realmUrls))) }),
    }),
    route('DELETE', '/bots/:bot_id', { auth: 'user', dto: BotDto, useCase: DeactivateBot, toInput: toBot }),
    route('GET', '/bots/:bot_id/api_key', {
      auth: 'user',
      dto: BotDto,
      useCase: GetBotApiKey,
      toInput: toBot,
      present: presentKey,
    }),
    route('POST', '/bots/:bot_id/api_key/regenerate', {
      auth: 'user',
      dto: BotDto,
      useCase: RegenerateBotApiKey,
      toInput: toBot,
      present: presentKey,
    }),
    route('POST', '/users/me/api_key/regenerate', {
      auth: 'user',
      dto: NoParameters,
      useCase: RegenerateApiKey,
      present: presentKey,
    }),
  ];
}
