import {
  ChannelFoundry,
  CreateChannel,
  FindChannelId,
  ListChannels,
  ListSubscriptions,
  NoticeBoard,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, markdownRenderer, realmAddresses, clock, channelOptions, channelQuota } = TOKENS;

export const channelsModule = new ContainerModule(({ bind }) => {
  provide(bind, ChannelFoundry, markdownRenderer, realmAddresses, NoticeBoard, channelQuota);
  provide(bind, CreateChannel, unitOfWork, ChannelFoundry, clock, realmAddresses, channelOptions);
  provide(bind, SubscribeUsers, unitOfWork, ChannelFoundry, NoticeBoard, clock, realmAddresses, channelOptions);
  provide(bind, UnsubscribeUsers, unitOfWork, realmAddresses);
  provide(bind, ListSubscriptions, unitOfWork);
  provide(bind, ListChannels, unitOfWork);
  provide(bind, FindChannelId, unitOfWork);
});
