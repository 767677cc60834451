/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': '请确认您在 {name} 的地址',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    '您正在注册 {organization}。请确认这是您的地址以继续。',
  'The link expires after one day.': '链接将在一天后失效。',
  'Complete registration': '完成注册',
  'If you did not request this, ignore this email.': '如果这不是您的请求，请忽略此邮件。',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    '有人通过一个未验证此地址的服务登录了 {organization}。请确认该地址属于您，然后重新登录。',
  'Confirm this address': '确认此地址',
  'Confirm your new address for {name}': '请确认您在 {name} 的新地址',
  'You are changing the address of your account at {organization} to {email}.':
    '您正在将 {organization} 帐户的地址更改为 {email}。',
  'Your account at {name}': '您在 {name} 的帐户',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    '您在 {organization} 有一个帐户 {email}。请设置密码以登录。',
  'Set a password': '设置密码',
  'Set a new password for {name}': '为 {name} 设置新密码',
  'Someone requested a new password for the account {email} at {organization}.':
    '有人为 {organization} 的帐户 {email} 请求了新密码。',
  'Set a new password': '设置新密码',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    '该帐户已停用。组织管理员可以重新启用它。',
  'New log-in to {name}': '新的登录：{name}',
  'Someone logged in to your account {email} at {organization}.': '有人登录了您在 {organization} 的帐户 {email}。',
  'Time: {time}': '时间：{time}',
  'Program: {program}': '程序：{program}',
  'Network address: {ip}': '网络地址：{ip}',
  unknown: '未知',
  'If this was not you, set a new password immediately and get a new API key.':
    '如果不是您本人，请立即设置新密码并获取新的 API 密钥。',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    '您收到此邮件，是因为您的设置中启用了新登录通知。',
  'Your address at {name} has changed': '您在 {name} 的地址已更改',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    '您在 {organization} 的帐户地址现在是 {email}。请用它登录；邮件也会发送到该地址。',
  'If you did not change it, tell an administrator of the organization immediately.':
    '如果不是您更改的，请立即告知组织管理员。',
  'Welcome to {name}': '欢迎加入 {name}',
  'You have joined {name}. Log in with:': '您已加入 {name}。登录信息：',
  'Organization: {url}': '组织：{url}',
  'Address: {email}': '地址：{email}',
  'Password: the one you chose when you signed up': '密码：您注册时选择的密码',
  'Password: none; log in the same way as when you joined': '密码：无；请用加入时的方式登录',
  'How to connect': '如何连接',
  'Your account at {name} has been deactivated': '您在 {name} 的帐户已停用',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} 停用了您在 {organization} 的帐户。您无法再登录。',
  'An administrator': '管理员',
  'Comment by {person}:': '{person} 的附言：',
  'Second factor of your account at {name}': '您在 {name} 的帐户的第二重验证',
  'A second factor was added to your account {email} at {organization}.':
    '您在 {organization} 的帐户 {email} 添加了一项第二重验证。',
  'A second factor was removed from your account {email} at {organization}.':
    '您在 {organization} 的帐户 {email} 移除了一项第二重验证。',
  'An administrator removed all second factors from your account {email} at {organization}.':
    '管理员移除了您在 {organization} 的帐户 {email} 的所有第二重验证。',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    '如果这出乎您的意料，请立即设置新密码并检查帐户的第二重验证。',
  'Second factors of your account': '您的帐户的第二重验证',
  '{person} has invited you to join {name}': '{person} 邀请您加入 {name}',
  'Reminder: {subject}': '提醒：{subject}',
  'Hello,': '您好：',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} 邀请您加入 {name}，团队在那里通过频道和话题交流。',
  'This is a reminder: the invitation expires soon.': '这是一封提醒邮件：邀请即将过期。',
  'If you do not want to join, ignore this email.': '如果您不想加入，请忽略此邮件。',
  '{name} notifications': '{name} 通知',
  'Test notification': '测试通知',
  'This is a test notification from {organization}.': '这是来自 {organization} 的测试通知。',
  'New messages': '新消息',
  'There are more messages in this conversation.': '此对话中还有更多消息。',
  'This email does not include message content because you have disabled message content in email notifications.':
    '此邮件不包含消息内容，因为您在邮件通知中关闭了消息内容。',
  'This email does not include message content because your organization hides message content in email.':
    '此邮件不包含消息内容，因为您的组织在邮件中隐藏消息内容。',
  'DMs with {name}': '与 {name} 的私信',
  'Group DMs with {names}': '与 {names} 的群组私信',
  '{count} more': '另外 {count} 人',
  'You are receiving this because you have email notifications enabled for direct messages.':
    '您收到此邮件，是因为您启用了私信的邮件通知。',
  'You are receiving this because you were personally mentioned.': '您收到此邮件，是因为有人提到了您。',
  'You are receiving this because @{group} was mentioned.': '您收到此邮件，是因为有人提到了 @{group}。',
  'You are receiving this because all topic participants were mentioned.':
    '您收到此邮件，是因为有人提到了话题的所有参与者。',
  'You are receiving this because everyone in the channel was mentioned.':
    '您收到此邮件，是因为有人提到了频道的所有人。',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    '您收到此邮件，是因为您为关注的话题启用了提及所有人的通知。',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    '您收到此邮件，是因为您为关注的话题启用了邮件通知。',
  'You are receiving this because you have email notifications enabled for {channel}.':
    '您收到此邮件，是因为您为 {channel} 启用了邮件通知。',
  'You are receiving this because you have email notifications enabled for the channel.':
    '您收到此邮件，是因为您为该频道启用了邮件通知。',
  'Do not reply to this email.': '请勿回复此邮件。',
  'Reply to this email directly, or in the chat.': '请直接回复此邮件，或在聊天中回复。',
  'View or reply in {name}': '在 {name} 中查看或回复',
  'Manage email preferences': '邮件设置',
  Unsubscribe: '退订',
  'Weekly digest of {name}': '{name} 每周摘要',
  'Open {name}': '打开 {name}',
  '{name} digest': '{name} 摘要',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    '您收到此邮件，是因为您已有几天没有活动，并启用了邮件摘要。',
  'Unread messages: {messages}, senders: {senders}': '未读消息：{messages}，发送者：{senders}',
  'New channels': '新频道',
  'News of the last week in {name}:': '{name} 上周的新动态：',
  'Busy conversations: {count}': '热门对话：{count}',
  'New channels: {count}': '新频道：{count}',
};
