import {
  ChangeChannelFolder,
  ChangeDefaultChannelGroup,
  ChangeDefaultGroupChannels,
  type ChangeDefaultGroupChannelsInput,
  CreateChannelFolder,
  CreateDefaultChannelGroup,
  DeleteDefaultChannelGroup,
  ListChannelFolders,
  ReorderChannelFolders,
  SetDefaultChannel,
} from '@parley/domain/channels';
import type { ChannelFolderId, ChannelId, DefaultChannelGroupId } from '@parley/domain/kernel';
import { given } from '../kernel/given.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { FOLDERS } from './channel.answers.js';
import { presentFolder } from './channel.presenters.js';
import {
  ChangeDefaultChannelGroupDto,
  ChangeDefaultGroupChannelsDto,
  ChangeFolderDto,
  CreateDefaultChannelGroupDto,
  CreateFolderDto,
  DefaultChannelDto,
  DeleteDefaultChannelGroupDto,
  ListFoldersDto,
  ReorderFoldersDto,
} from './channel-list.dtos.js';

const setDefault = (method: 'POST' | 'DELETE', isDefault: boolean): Route =>
  route(method, '/default_streams', {
    auth: 'user',
    roleRequirements: ['changesDefaultChannels'],
    dto: DefaultChannelDto,
    useCase: SetDefaultChannel,
    toInput: ({ stream_id }) => ({ channelId: stream_id as ChannelId, isDefault }),
  });

const toOperation = (op: string): ChangeDefaultGroupChannelsInput['op'] =>
  op === 'add' || op === 'remove' ? op : 'unknown';

/** Default channels and groups of them, and folders (channels §4.14, §4.15). */
export const channelListRoutes: readonly Route[] = [
  setDefault('POST', true),
  setDefault('DELETE', false),
  route('POST', '/default_stream_groups/create', {
    auth: 'user',
    roleRequirements: ['changesDefaultChannels'],
    dto: CreateDefaultChannelGroupDto,
    useCase: CreateDefaultChannelGroup,
    toInput: ({ group_name, description, stream_names }) => ({
      name: group_name,
      description,
      channelNames: stream_names,
    }),
  }),
  route('PATCH', '/default_stream_groups/:group_id', {
    auth: 'user',
    roleRequirements: ['changesDefaultChannels'],
    dto: ChangeDefaultChannelGroupDto,
    useCase: ChangeDefaultChannelGroup,
    toInput: (dto) =>
      given({
        groupId: dto.group_id as DefaultChannelGroupId,
        name: dto.new_group_name,
        description: dto.new_description,
      }),
  }),
  route('PATCH', '/default_stream_groups/:group_id/streams', {
    auth: 'user',
    roleRequirements: ['changesDefaultChannels'],
    dto: ChangeDefaultGroupChannelsDto,
    useCase: ChangeDefaultGroupChannels,
    toInput: ({ group_id, op, stream_names }) => ({
      groupId: group_id as DefaultChannelGroupId,
      op: toOperation(op),
      channelNames: stream_names,
    }),
  }),
  route('DELETE', '/default_stream_groups/:group_id', {
    auth: 'user',
    roleRequirements: ['changesDefaultChannels'],
    dto: DeleteDefaultChannelGroupDto,
    useCase: DeleteDefaultChannelGroup,
    toInput: ({ group_id }) => ({ groupId: group_id as DefaultChannelGroupId }),
  }),
  route('POST', '/channel_folders/create', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: CreateFolderDto,
    useCase: CreateChannelFolder,
    toInput: ({ name, description }) => ({ name, description }),
    answer: wire.fields({ channel_folder_id: wire.integer() }),
    present: (channel_folder_id) => ({ channel_folder_id }),
  }),
  route('GET', '/channel_folders', {
    auth: 'user',
    dto: ListFoldersDto,
    useCase: ListChannelFolders,
    toInput: ({ include_archived }) => ({ includeArchived: include_archived }),
    answer: FOLDERS,
    present: (folders) => ({ channel_folders: folders.map(presentFolder) }),
  }),
  route('PATCH', '/channel_folders', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ReorderFoldersDto,
    useCase: ReorderChannelFolders,
    toInput: ({ order }) => ({ folderIds: order as ChannelFolderId[] }),
  }),
  route('PATCH', '/channel_folders/:channel_folder_id', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ChangeFolderDto,
    useCase: ChangeChannelFolder,
    toInput: (dto) =>
      given({
        folderId: dto.channel_folder_id as ChannelFolderId,
        name: dto.name,
        description: dto.description,
        isArchived: dto.is_archived,
      }),
  }),
];
