import {
  AddDevice,
  AddPushToken,
  RegisterDevices,
  RegisterForPush,
  RemoveDevice,
  RemovePushToken,
  SendEncryptedTestPush,
  SendTestPush,
  UnregisterTokens,
} from '@parley/domain/push';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const { unitOfWork, pushService, clock, realmUrls } = TOKENS;

export const pushModule = new ContainerModule(({ bind }) => {
  provide(bind, AddDevice, unitOfWork);
  provide(bind, RemoveDevice, unitOfWork);
  provide(bind, RegisterForPush, unitOfWork, pushService, clock);
  provide(bind, AddPushToken, unitOfWork, pushService);
  provide(bind, RemovePushToken, unitOfWork, pushService);
  provide(bind, SendTestPush, unitOfWork, pushService);
  provide(bind, SendEncryptedTestPush, unitOfWork, pushService, realmUrls, clock);

  provide(bind, RegisterDevices, unitOfWork, pushService, clock);
  provideAs(bind, LISTS.jobHandler, RegisterDevices);
  provide(bind, UnregisterTokens, unitOfWork, pushService);
  provideAs(bind, LISTS.jobHandler, UnregisterTokens);
});
