import type { RealmUrls, UserId } from '@parley/domain/kernel';
import {
  CreateBot,
  DeactivateBot,
  GetBotApiKey,
  type GivenAvatar,
  ListOwnBots,
  RegenerateApiKey,
  RegenerateBotApiKey,
  UpdateBot,
  type WebhookInterface,
} from '@parley/domain/membership';
import type { BotKind } from '@parley/domain/users';
import { givenImage, TAKES_IMAGE } from '../files/given-image.js';
import { given } from '../kernel/given.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { json, type ParamType, recordOf, refine, text } from '../kernel/param-types.js';
import { BooleanParam, IntegerOneOfParam, IntegerParam, NoParameters, param, TextParam } from '../kernel/params.js';
import type { Request } from '../kernel/request.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { publicRealmOf } from '../realms/public-realm.js';
import { BOT_TYPES, ROLE_NUMBERS, ROLES_BY_NUMBER } from '../users/user.presenters.js';
import { CHANGED_BOT, CREATED_BOT, OWN_BOTS } from './bot.answers.js';
import { presentCreatedBot, presentOwnBot, presentUpdatedBot, WEBHOOK_INTERFACE_NUMBERS } from './bot.presenters.js';

const OWN_KEY = wire.fields({ api_key: wire.text() });

const MAX_URL_LENGTH = 2000;
const MAX_CONFIG_ENTRIES = 100;

/** A JSON string: an address of the web, or nothing. */
const webhookUrl: ParamType<string> = json(
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

class UpdateBotDto {
  @IntegerParam() bot_id!: number;
  @TextParam({ ...TEXT, optional: true }) full_name?: string;
  @TextParam({ ...TEXT, optional: true }) short_name?: string;
  @IntegerOneOfParam(Object.values(ROLE_NUMBERS), { optional: true }) role?: number;
  @IntegerParam({ optional: true }) bot_owner_id?: number;
  @param(config, { optional: true }) config_data?: Record<string, string>;
  @param(webhookUrl, { optional: true }) service_payload_url?: string;
  @IntegerParam({ optional: true }) service_interface?: number;
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

const givenAvatar = (request: Request): GivenAvatar =>
  givenImage(request) ?? (request.files.length > 0 ? 'several' : null);

const toBot = ({ bot_id }: BotDto) => ({ botId: bot_id as UserId });
const presentKey = (apiKey: string) => ({ api_key: apiKey });

export function botRoutes(realmUrls: RealmUrls): readonly Route[] {
  return [
    route('POST', '/bots', {
      auth: 'user',
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
        avatar: givenAvatar(request),
      }),
      answer: CREATED_BOT,
      present: (bot) => presentCreatedBot(bot, publicRealmOf(bot.realm, realmUrls)),
    }),
    route('GET', '/bots', {
      auth: 'user',
      roleRequirements: ['member'],
      dto: NoParameters,
      useCase: ListOwnBots,
      answer: OWN_BOTS,
      present: ({ realm, bots }) => ({ bots: bots.map((bot) => presentOwnBot(bot, publicRealmOf(realm, realmUrls))) }),
    }),
    route('PATCH', '/bots/:bot_id', {
      auth: 'user',
      ...TAKES_IMAGE,
      dto: UpdateBotDto,
      useCase: UpdateBot,
      toInput: (dto, request) =>
        given({
          botId: dto.bot_id as UserId,
          fullName: dto.full_name,
          shortName: dto.short_name,
          role: dto.role === undefined ? undefined : ROLES_BY_NUMBER.get(dto.role)!,
          ownerId: dto.bot_owner_id as UserId | undefined,
          webhookUrl: dto.service_payload_url,
          webhookInterface: dto.service_interface === undefined ? undefined : interfaceOf(dto.service_interface),
          sendingChannel: dto.default_sending_stream,
          eventsChannel: dto.default_events_register_stream,
          allPublicChannels: dto.default_all_public_streams,
          avatar: givenAvatar(request),
        }),
      answer: CHANGED_BOT,
      present: (bot) => presentUpdatedBot(bot, publicRealmOf(bot.realm, realmUrls)),
    }),
    route('DELETE', '/bots/:bot_id', { auth: 'user', dto: BotDto, useCase: DeactivateBot, toInput: toBot }),
    route('GET', '/bots/:bot_id/api_key', {
      auth: 'user',
      dto: BotDto,
      useCase: GetBotApiKey,
      toInput: toBot,
      answer: OWN_KEY,
      present: presentKey,
    }),
    route('POST', '/bots/:bot_id/api_key/regenerate', {
      auth: 'user',
      dto: BotDto,
      useCase: RegenerateBotApiKey,
      toInput: toBot,
      answer: OWN_KEY,
      present: presentKey,
    }),
    route('POST', '/users/me/api_key/regenerate', {
      auth: 'user',
      dto: NoParameters,
      useCase: RegenerateApiKey,
      answer: OWN_KEY,
      present: presentKey,
    }),
  ];
}
