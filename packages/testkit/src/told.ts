import type { DomainEventType } from '@parley/domain';
import type { MemoryScene } from './builders.js';
import { reaches } from './client-model.js';

/** The story so far, oldest first: each event that somebody could hear of, and who of the scene did, by name. */
export async function told(scene: MemoryScene): Promise<readonly (readonly [DomainEventType, readonly string[]])[]> {
  return scene.uow.read(async (repositories) => {
    const stories: [DomainEventType, string[]][] = [];
    for (const stored of scene.storage.announced) {
      if (stored.realmId !== scene.realm.id || stored.audience.kind === 'nobody') continue;
      const names: string[] = [];
      for (const [name, { id, realmId }] of scene.users) {
        const user = await repositories.users.find(realmId, id);
        if (user?.isActive && (await reaches(repositories, { realmId, userId: id }, stored))) names.push(name);
      }
      stories.push([stored.event.type, names]);
    }
    return stories;
  });
}
