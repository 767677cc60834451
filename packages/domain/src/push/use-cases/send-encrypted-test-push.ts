import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { DeviceId } from '../../kernel/ids.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Device } from '../device.js';
import { removeDevice } from '../push-events.js';
import { type ActiveDevice, type PushService, requirePushService } from '../push-service.js';
import { enforceHuman } from './add-push-token.js';

/** Sends an encrypted test to the caller's devices (organization §13). */
export class SendEncryptedTestPush {
  static readonly inject = ['unitOfWork', 'pushService', 'realmUrls', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly service: PushService | null,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  /**
   * `deviceId` null: to all that are registered. @throws DomainError MUST_NOT_BE_BOT, NO_ACTIVE_PUSH_DEVICE also when the
   * service says that all are gone, PUSH_SERVICE_NOT_CONFIGURED, PUSH_SERVICE_UNREACHABLE, PUSH_SERVICE_FAILED,
   * PUSH_SERVICE_DENIED, PUSH_SERVICE_REFUSED
   */
  async execute(caller: Caller, { deviceId }: { readonly deviceId: DeviceId | null }): Promise<void> {
    const { realmId, userId } = caller;
    const { realm, devices } = await this.uow.read(async (repositories) => {
      await enforceHuman(repositories, caller);
      const all = await repositories.devices.list(realmId, userId);
      const wanted = all.filter(({ id }) => deviceId === null || id === deviceId);
      return { realm: await repositories.realms.get(realmId), devices: wanted.filter(isActive) };
    });
    if (devices.length === 0) throw noActiveDevice();
    const service = requirePushService(this.service);
    const payload = {
      realm_url: this.realmUrls.urlOf(realm),
      realm_name: realm.name,
      user_id: userId,
      type: 'test',
      time: this.clock.now(),
    };
    const { goneTokenIds } = await service.sendEncrypted({ realm, userId }, devices, payload);
    if (goneTokenIds.length === 0) return;
    await this.uow.write(async (tx) => {
      for (const device of await tx.devices.list(realmId, userId)) {
        if (device.tokenId !== null && goneTokenIds.includes(device.tokenId)) await removeDevice(tx, device);
      }
    });
    if (devices.every(({ tokenId }) => goneTokenIds.includes(tokenId))) throw noActiveDevice();
  }
}

const isActive = (device: Device): device is ActiveDevice =>
  device.key !== null && device.tokenId !== null && device.tokenKind !== null;

const noActiveDevice = () => new DomainError('NO_ACTIVE_PUSH_DEVICE', 'No active registered push device');
