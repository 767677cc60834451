import {
  ChangeChannelFolder,
  ChangeDefaultChannelGroup,
  ChangeDefaultGroupChannels,
  type ChangeDefaultGroupChannelsInput,
  CreateChannelFolder,
  CreateDefaultChannelGroup,
  canChangeDefaultChannels,
  DeleteDefaultChannelGroup,
  ListChannelFolders,
  MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
  MAX_CHANNEL_FOLDER_NAME_LENGTH,
  ReorderChannelFolders,
  SetDefaultChannel,
} from '@parley/domain/channels';
import type { ChannelFolderId, ChannelId, DefaultChannelGroupId } from '@parley/domain/kernel';
import { type Route, route } from '../declarations/route.js';
import { MAX_IDS, MAX_NAMES, MAX_TEXT_LENGTH } from '../params/param-types.js';
import {
  BooleanParam,
  definedFields,
  IntegerListParam,
  IntegerParam,
  TextListParam,
  TextParam,
} from '../params/params.js';
import * as wire from '../wire/schema.js';
import { FOLDERS, presentFolder } from './channel.presenters.js';

/** Loose limit: the use case rejects long names with its own error message (channels §4.14). */
const TEXT = { max: MAX_TEXT_LENGTH };
const DESCRIPTION = { max: 1024 };

export class DefaultChannelDto {
  @IntegerParam() stream_id!: number;
}

export class CreateDefaultChannelGroupDto {
  @TextParam({ ...TEXT, description: 'Name of the default channel group.' }) group_name!: string;
  @TextParam(DESCRIPTION) description!: string;
  @TextListParam({ max: MAX_NAMES, each: TEXT }) stream_names!: string[];
}

export class ChangeDefaultChannelGroupDto {
  @IntegerParam() group_id!: number;
  @TextParam({ ...TEXT, optional: true, description: 'New name of the default channel group.' })
  new_group_name?: string;
  @TextParam({ ...DESCRIPTION, optional: true, description: 'New description.' }) new_description?: string;
}

export class ChangeDefaultGroupChannelsDto {
  @IntegerParam() group_id!: number;
  @TextParam(TEXT) op!: string;
  @TextListParam({ max: MAX_NAMES, each: TEXT }) stream_names!: string[];
}

export class DeleteDefaultChannelGroupDto {
  @IntegerParam() group_id!: number;
}

const FOLDER_NAME = { max: MAX_CHANNEL_FOLDER_NAME_LENGTH };
const FOLDER_DESCRIPTION = { max: MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH };

export class CreateFolderDto {
  @TextParam(FOLDER_NAME) name!: string;
  @TextParam(FOLDER_DESCRIPTION) description = '';
}

export class ListFoldersDto {
  @BooleanParam({ description: 'Whether to include archived folders.' }) include_archived = false;
}

export class ReorderFoldersDto {
  @IntegerListParam({ max: MAX_IDS }) order!: number[];
}

export class ChangeFolderDto {
  @IntegerParam({ description: 'Id of the channel folder.' }) channel_folder_id!: number;
  @TextParam({ ...FOLDER_NAME, optional: true }) name?: string;
  @TextParam({ ...FOLDER_DESCRIPTION, optional: true }) description?: string;
  @BooleanParam({ optional: true }) is_archived?: boolean;
}

const setDefault = (method: 'POST' | 'DELETE', isDefault: boolean): Route =>
  route(method, '/default_streams', {
    summary: `${isDefault ? 'Add' : 'Remove'} a default channel of new users`,
    section: 'channels §4.14',
    auth: 'user',
    scope: 'account',
    roleRequirements: [canChangeDefaultChannels],
    dto: DefaultChannelDto,
    useCase: SetDefaultChannel,
    toInput: ({ stream_id }) => ({ channelId: stream_id as ChannelId, isDefault }),
  });

const toOperation = (op: string): ChangeDefaultGroupChannelsInput['op'] =>
  op === 'add' || op === 'remove' ? op : 'unknown';

/** Routes of default channels, default channel groups and folders (channels §4.14, §4.15). */
export const channelListRoutes: readonly Route[] = [
  setDefault('POST', true),
  setDefault('DELETE', false),
  route('POST', '/default_stream_groups/create', {
    summary: 'Create a default channel group',
    section: 'channels §4.14',
    auth: 'user',
    scope: 'account',
    roleRequirements: [canChangeDefaultChannels],
    dto: CreateDefaultChannelGroupDto,
    useCase: CreateDefaultChannelGroup,
    toInput: ({ group_name, description, stream_names }) => ({
      name: group_name,
      description,
      channelNames: stream_names,
    }),
  }),
  route('PATCH', '/default_stream_groups/:group_id', {
    summary: 'Change a default channel group',
    section: 'channels §4.14',
    auth: 'user',
    scope: 'account',
    roleRequirements: [canChangeDefaultChannels],
    dto: ChangeDefaultChannelGroupDto,
    useCase: ChangeDefaultChannelGroup,
    toInput: (dto) =>
      definedFields({
        groupId: dto.group_id as DefaultChannelGroupId,
        name: dto.new_group_name,
        description: dto.new_description,
      }),
  }),
  route('PATCH', '/default_stream_groups/:group_id/streams', {
    summary: 'Add channels to or remove them from a default channel group',
    section: 'channels §4.14',
    auth: 'user',
    scope: 'account',
    roleRequirements: [canChangeDefaultChannels],
    dto: ChangeDefaultGroupChannelsDto,
    useCase: ChangeDefaultGroupChannels,
    toInput: ({ group_id, op, stream_names }) => ({
      groupId: group_id as DefaultChannelGroupId,
      op: toOperation(op),
      channelNames: stream_names,
    }),
  }),
  route('DELETE', '/default_stream_groups/:group_id', {
    summary: 'Delete a default channel group',
    section: 'channels §4.14',
    auth: 'user',
    scope: 'account',
    roleRequirements: [canChangeDefaultChannels],
    dto: DeleteDefaultChannelGroupDto,
    useCase: DeleteDefaultChannelGroup,
    toInput: ({ group_id }) => ({ groupId: group_id as DefaultChannelGroupId }),
  }),
  route('POST', '/channel_folders/create', {
    summary: 'Create a channel folder',
    section: 'channels §4.15',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: CreateFolderDto,
    useCase: CreateChannelFolder,
    toInput: ({ name, description }) => ({ name, description }),
    response: wire.fields({ channel_folder_id: wire.integer() }),
    present: (channel_folder_id) => ({ channel_folder_id }),
  }),
  route('GET', '/channel_folders', {
    summary: 'List channel folders',
    section: 'channels §4.15',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: ListFoldersDto,
    useCase: ListChannelFolders,
    toInput: ({ include_archived }) => ({ includeArchived: include_archived }),
    response: FOLDERS,
    present: (folders) => ({ channel_folders: folders.map(presentFolder) }),
  }),
  route('PATCH', '/channel_folders', {
    summary: 'Order the channel folders',
    section: 'channels §4.15',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ReorderFoldersDto,
    useCase: ReorderChannelFolders,
    toInput: ({ order }) => ({ folderIds: order as ChannelFolderId[] }),
  }),
  route('PATCH', '/channel_folders/:channel_folder_id', {
    summary: 'Change or archive a channel folder',
    section: 'channels §4.15',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ChangeFolderDto,
    useCase: ChangeChannelFolder,
    toInput: (dto) =>
      definedFields({
        folderId: dto.channel_folder_id as ChannelFolderId,
        name: dto.name,
        description: dto.description,
        isArchived: dto.is_archived,
      }),
  }),
];
