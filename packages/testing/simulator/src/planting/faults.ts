/** Small change of the product that the simulation should find. */
export interface PlantedFault {
  readonly name: string;
  /** Path below `packages`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** Reason why the simulation cannot find the fault. */
  readonly hidden?: string;
  /** Number of servers that the simulation needs; default: 1. */
  readonly nodes?: number;
}

const fault = (name: string, file: string, text: string, replacement: string, hidden?: string): PlantedFault => ({
  ...{ name, file, text, replacement },
  ...(hidden !== undefined && { hidden }),
});

// biome-ignore format: A row per fault is easier to compare.
/** Adapt the text when the code changes; never drop a fault without replacing it. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  fault('a deletion is published to the deleter only', 'domain/src/writing/deletion.ts', 'anyOf(watchers, users([deletedBy]))', 'users([deletedBy])'),
  fault('the fan-out keeps former subscribers', 'domain/src/channels/channel-delivery.ts', 'user.channels.delete(id);\n          this.unsubscribe(user, id);', ''),
  fault('the fan-out keeps the former role', 'domain/src/users/user-delivery.ts', 'user.role = event.role;', ''),
  fault('due jobs are found a second late', 'adapters/storage/src/kernel/jobs.ts', 'AND due_at <= ? ORDER BY', 'AND due_at < ? ORDER BY'),
  fault('job workers start a second late', 'server/src/workers/job-workers.ts', 'Math.max(0, time * 1000 - clock.nowMs())', 'Math.max(0, time * 1000 + 1000 - clock.nowMs())'),
  // Wrong audience
  fault('changes reach only holders of a message', 'domain/src/messages/message-delivery.ts', "return isPrivate(channel) ? subscribers : anyOf(subscribers, allOf(atLeast('member'), holders));", 'return isPrivate(channel) ? subscribers : holders;'),
  fault('changes in public channels reach guests who have left', 'domain/src/messages/message-delivery.ts', "return isPrivate(channel) ? subscribers : anyOf(subscribers, allOf(atLeast('member'), holders));", 'return isPrivate(channel) ? subscribers : anyOf(subscribers, holders);'),
  fault('messages of channels reach everybody', 'domain/src/writing/post-message.ts', 'const subscribers = subscribersOf(destination.channel.id);', "const subscribers: Audience = { kind: 'realm' };"),
  fault('direct messages do not reach their sender', 'domain/src/writing/post-message.ts', 'return users(destination.participants.map((person) => person.id));', 'return users(destination.participants.slice(1).map((person) => person.id));'),
  fault('a moved message is not removed from those who lose it', 'domain/src/writing/move-parts.ts', 'const losing = receiversLostByMove(move.source, move.channel, move.outside);', "const losing = { kind: 'users', ids: [] } as const;"),
  fault('changed elements of personal lists reach nobody', 'domain/src/kernel/personal-list.ts', 'await this.publishChanged(tx, row);', ''),
  fault('removed elements of personal lists reach nobody', 'domain/src/kernel/personal-list.ts', 'await this.publish(tx, row, this.rules.events.removed(row));', ''),
  fault('messages are read by id without permission', 'domain/src/messages/message-permissions.ts', 'return mayReadIn(actor, channel, isSubscribed, isOwn) ? allowed : unknownMessage;', 'return allowed;'),
  fault('direct messages are read by everybody', 'domain/src/messages/message-permissions.ts', 'if (message.channelId === null) return isOwn ? allowed : unknownMessage;', 'if (message.channelId === null) return allowed;'),
  fault('everybody reads every file', 'domain/src/messages/file-access.ts', 'if (file.ownerId === actor.id && (!scope', 'if (file.ownerId !== 0 && (!scope'),
  fault('anybody deletes files of others', 'domain/src/files/files.ts', 'if (file?.ownerId === userId) return file;', 'if (file) return file;'),
  fault('who leaves a channel gets no event', 'domain/src/channels/subscribing.ts', 'audience: users(leavers),', 'audience: users([]),'),
  fault('who sees a channel by subscribing gets no event', 'domain/src/channels/subscribing.ts', "event: { type: 'channel.created', channels: [getOrThrow(views, channel.id)] },\n        audience: users(blind),", "event: { type: 'channel.created', channels: [getOrThrow(views, channel.id)] },\n        audience: users([]),"),
  fault('channels hidden by leaving are not removed', 'domain/src/channels/subscribing.ts', "event: { type: 'channel.hidden', channelIds: [channel.id] },\n        audience: users(blind),", "event: { type: 'channel.hidden', channelIds: [channel.id] },\n        audience: users([]),"),
  fault('private channels are known to all members', 'domain/src/channels/channel-delivery.ts', "if (!isPrivate(channel)) return atLeast('member');\n  const { canAdministerChannel,", "if (channel) return atLeast('member');\n  const { canAdministerChannel,"),
  fault('read messages have no event', 'domain/src/messages/flags.ts', 'audience: users([actor.id]),\n  });\n  return { changedIds,', 'audience: users([]),\n  });\n  return { changedIds,'),
  // Lost wake-ups and lost events
  fault('jobs of this process wake no worker', 'server/src/workers/job-workers.ts', 'for (const { kind, dueAt } of jobs) this.wake(kind, dueAt);', ''),
  fault('events that arrive during a look-up are lost', 'domain/src/kernel/realm-fan-out.ts', 'this.waiting.push(announced);', 'if (!this.lookingUp) this.waiting.push(announced);'),
  fault('a caught-up queue forgets its due events', 'domain/src/kernel/live-queue.ts', 'this.due.push(due);', 'this.due = [due];'),
  fault('units of work with several events announce the first one only', 'domain/src/composition/publishing-unit-of-work.ts', 'const events = units.flatMap((unit) => unit.events);', 'const events = units.flatMap((unit) => unit.events.slice(0, 1));'),
  fault('units of work wake nobody if they commit alone', 'domain/src/composition/publishing-unit-of-work.ts', 'if (this.committed.push(changes) === 1)', 'if (this.committed.push(changes) === 2)'),
  fault('queues skip an event after they have read the log', 'domain/src/kernel/queue-reader.ts', 'progress.after = lastOf(page).seq;', 'progress.after = (lastOf(page).seq + 1) as EventSeq;'),
  fault('a queue joins the fan-out with events missing', 'domain/src/kernel/realm-fan-out.ts', 'if (this.parts.follower.lastSeqOf(realmId) !== rights.lastSeq || present?.isIdle === false) return false;', ''),
  fault('a queue that catches up loses what it found', 'domain/src/kernel/live-queue.ts', 'this.due = [...due];', 'this.due = [];'),
  {
    ...fault('servers do not inform each other', 'domain/src/kernel/bus.ts', 'if (listeners !== own) for (const listener of listeners.get(realmId) ?? []) listener(hint);', ''),
    nodes: 2,
  },
  // Event before commit, double send
  fault('repeated sends are not recognized', 'domain/src/writing/send-once.ts', 'first && first.digest === digest && first.sentAt > now - SEND_MEMORY_SECONDS ? first.messageId : null', 'first && first.sentAt < 0 && digest && now ? first.messageId : null'),
  fault('a finished job stays in its table', 'domain/src/kernel/jobs.ts', 'if (await tx.jobs.take(stored)) await work(tx);', 'await work(tx);'),
  fault('delivered scheduled messages stay in the list', 'domain/src/writing/scheduled-delivery.ts', "await tx.scheduledMessages.update({ ...message, status: 'sent', content: '', renderedContent: '' });", ''),
  fault('units of work are acknowledged before their commit', 'adapters/sqlite/src/engine/unit-writer.ts', '      attempts.push({ unit, record, outcome });', "      attempts.push({ unit, record, outcome });\n      if ('value' in outcome) unit.resolve(outcome.value);"),
  fault('events are published before their commit', 'adapters/sqlite/src/engine/unit-writer.ts', '      attempts.push({ unit, record, outcome });', "      attempts.push({ unit, record, outcome });\n      if ('value' in outcome) unit.onCommit?.(record);"),
  fault('sends are not remembered', 'domain/src/writing/send-once.ts', 'await sentOnce.put(send);', ''),
  fault('a message that is sent again has two events', 'domain/src/writing/send-once.ts', 'first.sentAt > now - SEND_MEMORY_SECONDS', 'first.sentAt > now'),
  // Stale rights
  fault('former subscribers read private channels', 'domain/src/messages/message-permissions.ts', 'return hasContentAccess(actor, channel, isSubscribed) && (', 'return (hasContentAccess(actor, channel, isSubscribed) || isOwn) && ('),
  fault('groups keep members who have left', 'domain/src/access/group-delivery.ts', 'else this.leave(event.groupId, event.userIds);', ''),
  fault('protected history is readable for later subscribers', 'domain/src/messages/message-permissions.ts', ' && (hasSharedHistory(channel) || isOwn);', ';'),
  fault('guests read channels they are not subscribed to', 'domain/src/channels/channel-access.ts', 'return !isGuest(actor) && (!isPrivate(channel)', 'return (!isPrivate(channel)'),
  fault('who has left stays subscribed', 'domain/src/channels/subscribing.ts', '.map((row) => ({ ...row, isActive: false })),', '.map((row) => row),'),
  fault('new members of groups are ignored', 'domain/src/access/group-delivery.ts', 'user.directGroups.add(groupId);\n      this.closure.addMembers(groupId, [userId]);', ''),
  // Off-by-one in a span
  fault('a subscription misses its first event', 'domain/src/channels/channel-delivery.ts', 'if (fromSeq <= seq && (toSeq === null || seq < toSeq)) return true;', 'if (fromSeq + 2 < seq && (toSeq === null || seq < toSeq)) return true;'),
  fault('the replay ignores the end of a subscription', 'domain/src/channels/channel-delivery.ts', 'if (fromSeq <= seq && (toSeq === null || seq < toSeq)) return true;', 'if (fromSeq <= seq && (toSeq === null || seq > 0)) return true;'),
  fault('queues forget one event too many', 'domain/src/kernel/queue-reader.ts', 'live.dropBefore(first === undefined ? ((after + 1) as EventSeq) : seqOf(first));', 'live.dropBefore(first === undefined ? ((after + 1) as EventSeq) : ((seqOf(first) + 1) as EventSeq));'),
  fault('the log is read with the event of the cursor', 'adapters/sqlite/src/kernel/events.ts', '=>\n  `id > ', '=>\n  `id >= '),
  fault('confirmed events take the next one with them', 'domain/src/kernel/live-queue.ts', 'this.due[count]! < first', 'this.due[count]! <= first'),
  fault('a queue that begins behind skips an event', 'domain/src/kernel/live-queue.ts', 'this.floorSeq = floorSeq;', 'this.floorSeq = (floorSeq + 1) as EventSeq;'),
  // Forgotten rows
  fault('events keep the text of deleted messages', 'domain/src/writing/deletion.ts', 'await tx.events.blank(realmId, ids);', ''),
  fault('reminders keep the text of deleted messages', 'domain/src/writing/deletion.ts', 'await planRemovalOfText(tx, realmId, ids, deletedAt);', ''),
  fault('the first message of a channel outlives its deletion', 'domain/src/writing/deletion.ts', 'await renewFirstMessage(tx, deletion, ids);', ''),
  fault('leaving a channel keeps the span open', 'domain/src/channels/subscribing.ts', 'await tx.personal.closeSpans(realmId, [channel.recipientId], getOrThrow(removed, channel.id));', ''),
  fault('moves keep no history', 'domain/src/writing/moves.ts', 'await tx.moves.move(actor.realmId, slice, target);', 'await tx.moves.move(actor.realmId, slice.slice(0, 1), target);'),
  fault('the log of another history is not noticed after a restore', 'domain/src/kernel/event-hub.ts', "if (event.event.type === 'restarted') this.endBefore(event);", ''),
  fault('deleted messages stay in their table', 'domain/src/writing/deletion.ts', 'await tx.messages.remove(realmId, ids);', ''),
  fault('removed reactions stay', 'domain/src/writing/reactions.use-cases.ts', 'await tx.reactions.remove(realmId, input.messageId, reaction, userId);', ''),
  fault('a reaction leaves the message foreign', 'domain/src/writing/reactions.use-cases.ts', 'if (!isOwn) await tx.personal.addHistorical({ realmId: actor.realmId, userId: actor.id }, [message.id]);', ''),
  fault('subscribers get no span', 'domain/src/channels/subscribing.ts', 'await tx.personal.openSpans(realmId, [channel.recipientId], getOrThrow(added, channel.id));', ''),
  fault('messages stay unread for those who have left', 'domain/src/channels/subscribing.ts', 'unread: await markReadForLeavers(tx, leaversOf, limit) };', 'unread: [] };'),
  fault('queues go on where a restored log has not been', 'domain/src/kernel/live-queue.ts', 'this.fallBehind((after + 1) as EventSeq);\n', '', 'simulated backups are restored while no server runs'),
  fault('the disk is not synced', 'adapters/sqlite/src/database.ts', 'synchronous = FULL', 'synchronous = OFF', 'the simulated disk keeps what SQLite has written, synced or not'),
  // Exports and imports
  fault('imports leave out reactions', 'moving/transfer/src/imports/import-messages.ts', 'await tx.reactions.add(realmId, id, { ...this.ids.emojiOf(emoji), userId: this.ids.users.get(userId) });', ''),
  fault('imported messages are read', 'moving/transfer/src/imports/import-messages.ts', 'runs.add(this.ids.users.get(userId), ordinal, flags.read);', 'runs.add(this.ids.users.get(userId), ordinal, true);'),
  fault('links to files keep the address of the export', 'moving/transfer/src/imports/import-messages.ts', 'content: this.ids.rewriter.markdown(message.content),', 'content: message.content,'),
  fault('imported messages are not remembered', 'moving/transfer/src/imports/import-messages.ts', 'await rememberCreated(tx, batch, created);', ''),
  fault('queues go on after an import that has crashed at the end', 'domain/src/kernel/queue-reader.ts', "event.type === 'restarted' || ", ''),
  // Faults of a review
  fault('guests post in channels they are not subscribed to', 'domain/src/channels/post-permissions.ts', '  if (isGuest(sender)) return false;\n  return !isPrivate(channel) ||', '  return !isPrivate(channel) ||'),
  fault('members delete messages of others', 'domain/src/messages/message-permissions.ts', "!isOwn || !has('canDeleteOwnMessage')", "!isOwn && !has('canDeleteOwnMessage')"),
  fault('anybody edits messages of others', 'domain/src/messages/message-permissions.ts', '    denyIf(message.senderId !== actor.id, \'CANNOT_EDIT_MESSAGE\', "You don\'t have permission to edit this message"),\n', ''),
  fault('messages are moved where the mover may not post', 'domain/src/messages/message-permissions.ts', '    canSendTo(actor, botOwner, target),\n', ''),
  fault('messages are moved where the mover may not read', 'domain/src/writing/update-message.use-cases.ts', 'enforce(canMoveInto(actor, found!, await tx.channels.isSubscribed(realm.id, found!.id, actor.id)));', 'enforce(canMoveInto(actor, found!, true));'),
  fault('readers of a channel describe it', 'domain/src/channels/channel-permissions.ts', '    unknownUnless(mayAdminister(actor, channel) || hasContentAccess(actor, channel, isSubscribed)),\n    canAdministerChannel(actor, channel),\n', '    unknownUnless(mayAdminister(actor, channel) || hasContentAccess(actor, channel, isSubscribed)),\n'),
  fault('schema steps are committed before they are recorded', 'adapters/sqlite/src/engine/migrate.ts', 'database.exec(next.sql);', "database.exec('COMMIT');\n      database.exec(next.sql);\n      database.exec('BEGIN IMMEDIATE');"),
  fault('an upgrade forgets which drafts quote messages', 'adapters/storage/src/messages/drafts.ts', 'SELECT DISTINCT draft_id, message_id, realm_id FROM link WHERE message_id > 0;', 'SELECT DISTINCT draft_id, message_id, realm_id FROM link WHERE message_id < 0;'),
  fault('reactions reach only holders of a message', 'domain/src/writing/reactions.ts', '    audience: messageWatchers(message, channel),', '    audience: messageWatchers(message, null),'),
  fault('former guests get events of moves', 'domain/src/messages/message-delivery.ts', "return anyOf(subscribers, allOf(atLeast('member'), before));", 'return anyOf(subscribers, before);'),
  fault('others do not hear who leaves a channel', 'domain/src/channels/subscribing.ts', "  await publishSubscriberChanges(tx, 'remove', changed, removed);\n", ''),
  fault('delivered reminders stay in the list', 'domain/src/writing/scheduled-delivery.ts', '      await REMINDER_LIST.remove(tx, reminder);\n', ''),
  fault('the delivery of a scheduled message has no event', 'domain/src/writing/scheduled-delivery.ts', "      await SCHEDULED_MESSAGE_LIST.publish(tx, message, { type: 'scheduled_message.removed', id: message.id });\n", ''),
  fault('tidying read sets reads one message too many', 'adapters/sqlite/src/messages/unread-messages.ts', '{ first: range.first, last: Math.min(...ordinals) - 1 }', '{ first: range.first, last: Math.min(...ordinals) }'),
  fault('spans end a message late', 'domain/src/messages/message.ts', '(span.toOrdinal === null || ordinal < span.toOrdinal)', '(span.toOrdinal === null || ordinal <= span.toOrdinal)'),
  fault('spans begin a move late', 'domain/src/messages/message.ts', 'span.fromMove <= move &&', 'span.fromMove < move &&'),
  fault('former subscribers keep flags of moved messages', 'adapters/storage/src/messages/message-edits.ts', 'AND s.user_id = message_flag.user_id AND s.to_ordinal IS NULL)', 'AND s.user_id = message_flag.user_id)'),
  fault('sends are remembered until the next second', 'domain/src/writing/send-once.ts', 'removeBefore(send.realmId, send.sentAt - SEND_MEMORY_SECONDS, MAX_REMOVED)', 'removeBefore(send.realmId, send.sentAt, MAX_REMOVED)'),
  fault('the log is pruned without regard to queues', 'domain/src/kernel/queue-sweep.ts', 'queue: (await queues.lowestFloor(realmId)) ?? seq,', 'queue: seq,', 'queues of people end before their events are old enough'),
  fault('cached events keep deleted messages', 'domain/src/kernel/event-hub.ts', "if (event.event.type === 'blanked') this.forgetContent(event.realmId, event.event.messageIds);", ''),
  fault('cached channels keep former members in permissions', 'adapters/storage/src/channels/channel-cache.ts', 'existing?.valuesVersion === valuesVersion && existing.channel.permissions === permissions', 'existing?.channel.permissions === permissions'),
  fault('cached rights ignore changes of members', 'adapters/storage/src/users/actors.ts', "u.version || '/' || u.groups_version || '/' || (r.groups_version - r.member_changes)", "u.version || '/' || (r.groups_version - r.member_changes)"),
  fault('failed deliveries are not repeated', 'domain/src/writing/scheduled-delivery.ts', 'maxAttempts: 3,', 'maxAttempts: 1,', 'deliveries may fail after the disk has failed'),
  fault('the oldest link does not open a file', 'domain/src/messages/file-access.ts', 'for (let end = messageIds.length; end > 0;', 'for (let end = messageIds.length; end > 1;'),
  fault('everybody reads the edit history', 'domain/src/messages/message-permissions.ts', 'access === null ? unknownMessage : canReadMessage(actor, access),', 'access === null ? unknownMessage : allowed,'),
  fault('edits are not recorded in the history', 'domain/src/writing/update-message.use-cases.ts', '        if (!move) await tx.edits.add(realm.id, sharedEdit(actor, now), [before.id], before.id);\n', ''),
  fault('moves of later messages leave the first one', 'domain/src/writing/moves.ts', "propagation === 'all' ? 0 : id; ; )", "propagation === 'all' ? 0 : id + 1; ; )"),
  fault('clients keep removed topic policies', 'clients/chat/src/channels/channels.ts', 'if (topic.visibility_policy !== 0) state.policies.set(key, topic);', 'state.policies.set(key, topic);'),
  fault('clients keep deleted messages unread', 'clients/chat/src/messages/messages.ts', '  forgetUnread(state, ids);\n  for (const id of ids) state.starred.delete(id);', '  for (const id of ids) state.starred.delete(id);'),
  fault('clients keep subscribers who leave', 'clients/chat/src/channels/channels.ts', "const next = event.op === 'peer_add' ? union : without;", 'const next = union;'),
  fault('clients lose the topic of moved unread messages', 'clients/chat/src/messages/unread.ts', 'inTopic(channelId, topic ?? destination.topic)', "inTopic(channelId, topic ?? '')"),
  fault('clients take moderators alone for moderators', 'clients/chat/src/people/people.ts', "state.fields.set('is_moderator', role <= 300)", "state.fields.set('is_moderator', role === 300)"),
  fault('clients ignore that everything was read', 'clients/chat/src/messages/messages.ts', "if (event.op === 'add') markRead(state, isAll ? null : ids);", "if (event.op === 'add') markRead(state, ids);"),
  fault('clients sort drafts the wrong way', 'clients/chat/src/personal/personal.ts', 'b.timestamp - a.timestamp || b.id - a.id', 'a.timestamp - b.timestamp || a.id - b.id'),
  fault('clients keep removed reactions', 'clients/chat/src/messages/messages.ts', "reactions: op === 'add' ? [...others, reaction] : others };", 'reactions: [...others, reaction] };'),
  fault('messages are moved that the mover may not read', 'domain/src/channels/channel-access.ts', 'return hasSharedHistory(channel) && hasContentAccess(actor, channel, isSubscribed);', 'return hasContentAccess(actor, channel, isSubscribed);'),
  fault('a chosen topic policy cannot be changed', 'domain/src/channels/topic-policies.ts', "if ((current ?? 'inherit') === chosen.visibility) return;", "if ((current ?? 'inherit') !== 'inherit' || chosen.visibility === 'inherit') return;"),
  fault('changed drafts keep their text', 'domain/src/writing/drafts.use-cases.ts', '{ id, ...parsed! }', '{ ...before, to: parsed!.to, editedAt: parsed!.editedAt }'),
  fault('queues end after five minutes without polls', 'domain/src/kernel/queue-sweep.ts', 'idleSeconds < queue.idleTimeoutSeconds', 'idleSeconds < SLEEP_SECONDS'),
  fault('a second question waits for a third one', 'domain/src/membership/webhooks.ts', '      await this.scheduleNext(tx, realmId, botId, pause);\n    };', '    };'),
  fault('imports leave out topic policies', 'domain/src/channels/topic-policies.ts', '    for (const policy of topicPolicies) {\n      await', '    for (const policy of topicPolicies.slice(1)) {\n      await'),
  fault('imports leave out drafts without a recipient', 'domain/src/writing/drafts.ts', "to.kind === 'nobody' || to.userIds.every", "to.kind !== 'nobody' && to.userIds.every"),
  fault('pages around a message leave out the one before it', 'domain/src/messages/message-page.ts', 'await upTo(anchor - 1, before)), ...(await from(anchor, after + 1))]', 'await upTo(anchor - 2, before)), ...(await from(anchor, after + 1))]'),
  fault('anybody joins any group', 'domain/src/groups/group-permissions.ts', "return may(actor, realm, group, isOnly(userIds, actor.id) ? ['canJoin', 'canAddMembers'] : ['canAddMembers'], true);", "return isOnly(userIds, actor.id) ? all(mustNotBeGuest(actor), canAccessGroup(group)) : may(actor, realm, group, ['canAddMembers'], true);"),
  fault('anybody removes others from channels', 'domain/src/channels/channel-permissions.ts', "            hasMetadataAccess(actor, channel, isSubscribed) &&\n            hasChannelPermission(actor, channel, 'canRemoveSubscribers'),", "            hasMetadataAccess(actor, channel, isSubscribed) ||\n            hasChannelPermission(actor, channel, 'canRemoveSubscribers'),"),
  fault('anybody deletes scheduled messages of others', 'domain/src/kernel/personal-list.ts', 'if (row?.userId !== userId) throw this.unknown();', 'if (!row) throw this.unknown();'),
  fault('a removed reaction takes others with it', 'adapters/storage/src/messages/reactions.ts', '       WHERE message_id = ? AND emoji_type = ? AND emoji_code = ? AND realm_id = ? AND user_id = ?', "       WHERE message_id = ? AND emoji_type = ? AND (emoji_code = ? OR emoji_code <> '') AND realm_id = ? AND user_id = ?"),
  fault('drafts quote deleted messages', 'domain/src/writing/deletion.ts', '    ...quoted.map((id) => encodeJob(DELETED_QUOTE_JOB, { realmId, dueAt, payload: { id } })),\n', ''),
  fault('members of a subgroup do not hear of channels', 'domain/src/groups/change-members.use-cases.ts', 'isVisible ? await tx.groups.listMembersRecursively(realmId, subgroupIds) : []', '[]'),
  fault('searches show earlier messages of a channel with protected history', 'adapters/sqlite/src/messages/search.ts', "found.push(...(scope === 'own' ? await this.states.own(viewer, rows) : rows));", 'found.push(...rows);'),
  fault('the end of a collapse removes the star', 'adapters/storage/src/messages/personal-messages.ts', 'read IS NULL AND starred = 0 AND collapsed = 0', 'read IS NULL AND collapsed = 0'),
  fault('guests see whom they met in channels that they have left', 'adapters/storage/src/users/users.ts', 'AND own.realm_id = ? AND own.is_active = 1 AND u.id', 'AND own.realm_id = ? AND u.id'),
  fault('clients keep one reaction of each person', 'clients/chat/src/messages/messages.ts', '          each.emoji_code !== reaction.emoji_code ||\n', ''),
];
