import type { ChannelId, GroupId, RecipientId, UserId } from '@parley/domain/kernel';
import { id, text } from '../shape.js';

/** What columns of many tables hold. */
export const NAME = text(1000);
export const user = id<UserId>();
export const channel = id<ChannelId>();
export const recipient = id<RecipientId>();
export const group = id<GroupId>();
