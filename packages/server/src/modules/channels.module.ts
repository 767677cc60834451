import {
  ArchiveChannel,
  ChangeChannel,
  ChangeSubscriptionProperties,
  ChangeSubscriptions,
  ChannelCreator,
  CreateChannel,
  FindChannelId,
  GetChannel,
  GetSubscriptionStatus,
  ListChannels,
  ListSubscribers,
  ListSubscriptions,
  ListUserChannels,
  MuteTopic,
  SetTopicPolicy,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { SystemMessages } from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, markdownRenderer, realmUrls, clock, serverChannelConfig, channelQuota } = TOKENS;

export const channelsModule = new ContainerModule(({ bind }) => {
  provide(bind, ChannelCreator, markdownRenderer, realmUrls, SystemMessages, channelQuota);
  provide(bind, CreateChannel, unitOfWork, ChannelCreator, clock, realmUrls, serverChannelConfig);
  provide(bind, ChangeChannel, unitOfWork, markdownRenderer, realmUrls, SystemMessages, serverChannelConfig);
  provide(bind, ArchiveChannel, unitOfWork, SystemMessages);
  provide(bind, SubscribeUsers, unitOfWork, ChannelCreator, SystemMessages, clock, realmUrls, serverChannelConfig);
  provide(bind, UnsubscribeUsers, unitOfWork, realmUrls);
  provide(bind, ChangeSubscriptions, unitOfWork, SubscribeUsers, UnsubscribeUsers);
  provide(bind, ChangeSubscriptionProperties, unitOfWork);
  provide(bind, SetTopicPolicy, unitOfWork, clock);
  provide(bind, MuteTopic, unitOfWork, clock);
  provide(bind, ListSubscriptions, unitOfWork);
  provide(bind, ListChannels, unitOfWork);
  provide(bind, GetChannel, unitOfWork);
  provide(bind, FindChannelId, unitOfWork);
  provide(bind, ListSubscribers, unitOfWork);
  provide(bind, GetSubscriptionStatus, unitOfWork);
  provide(bind, ListUserChannels, unitOfWork);
});
