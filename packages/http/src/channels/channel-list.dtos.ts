import { MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH, MAX_CHANNEL_FOLDER_NAME_LENGTH } from '@parley/domain/channels';
import { MAX_IDS, MAX_NAMES, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { BooleanParam, IntegerListParam, IntegerParam, TextListParam, TextParam } from '../kernel/params.js';

/** The use case refuses names that are too long, in its own words (channels §4.14). */
const TEXT = { max: MAX_TEXT_LENGTH };
const DESCRIPTION = { max: 1024 };

export class DefaultChannelDto {
  @IntegerParam() stream_id!: number;
}

export class CreateDefaultChannelGroupDto {
  @TextParam(TEXT) group_name!: string;
  @TextParam(DESCRIPTION) description!: string;
  @TextListParam({ max: MAX_NAMES, each: TEXT }) stream_names!: string[];
}

export class ChangeDefaultChannelGroupDto {
  @IntegerParam() group_id!: number;
  @TextParam({ ...TEXT, optional: true }) new_group_name?: string;
  @TextParam({ ...DESCRIPTION, optional: true }) new_description?: string;
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
  @BooleanParam() include_archived = false;
}

export class ReorderFoldersDto {
  @IntegerListParam({ max: MAX_IDS }) order!: number[];
}

export class ChangeFolderDto {
  @IntegerParam() channel_folder_id!: number;
  @TextParam({ ...FOLDER_NAME, optional: true }) name?: string;
  @TextParam({ ...FOLDER_DESCRIPTION, optional: true }) description?: string;
  @BooleanParam({ optional: true }) is_archived?: boolean;
}
