import {
  ChannelCreator,
  CreateChannel,
  FindChannelId,
  ListChannels,
  ListSubscriptions,
  SubscribeUsers,
  SystemMessages,
  UnsubscribeUsers,
} from '@parley/domain';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, markdownRenderer, realmUrls, clock, serverChannelConfig, channelQuota } = TOKENS;

export const channelsModule = new ContainerModule(({ bind }) => {
  provide(bind, ChannelCreator, markdownRenderer, realmUrls, SystemMessages, channelQuota);
  provide(bind, CreateChannel, unitOfWork, ChannelCreator, clock, realmUrls, serverChannelConfig);
  provide(bind, SubscribeUsers, unitOfWork, ChannelCreator, SystemMessages, clock, realmUrls, serverChannelConfig);
  provide(bind, UnsubscribeUsers, unitOfWork, realmUrls);
  provide(bind, ListSubscriptions, unitOfWork);
  provide(bind, ListChannels, unitOfWork);
  provide(bind, FindChannelId, unitOfWork);
});
