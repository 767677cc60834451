/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': '{name} のアドレスの確認',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    '{organization} に登録しようとしています。続けるには、これがあなたのアドレスであることを確認してください。',
  'The link expires after one day.': 'リンクは 1 日で期限切れになります。',
  'Complete registration': '登録を完了する',
  'If you did not request this, ignore this email.': '心当たりがない場合は、このメールを無視してください。',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'このアドレスを確認していないサービスを通じて、誰かが {organization} にログインしました。ご自身のアドレスであることを確認し、もう一度ログインしてください。',
  'Confirm this address': 'このアドレスを確認する',
  'Confirm your new address for {name}': '{name} の新しいアドレスの確認',
  'You are changing the address of your account at {organization} to {email}.':
    '{organization} のアカウントのアドレスを {email} に変更しようとしています。',
  'Your account at {name}': '{name} のアカウント',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    '{organization} にアカウント {email} があります。ログインするにはパスワードを設定してください。',
  'Set a password': 'パスワードを設定する',
  'Set a new password for {name}': '{name} の新しいパスワードの設定',
  'Someone requested a new password for the account {email} at {organization}.':
    '{organization} のアカウント {email} について、新しいパスワードが要求されました。',
  'Set a new password': '新しいパスワードを設定する',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'このアカウントは無効になっています。組織の管理者が再び有効にできます。',
  'New log-in to {name}': '{name} への新しいログイン',
  'Someone logged in to your account {email} at {organization}.':
    '{organization} のアカウント {email} にログインがありました。',
  'Time: {time}': '日時: {time}',
  'Program: {program}': 'プログラム: {program}',
  'Network address: {ip}': 'ネットワークアドレス: {ip}',
  unknown: '不明',
  'If this was not you, set a new password immediately and get a new API key.':
    '心当たりがない場合は、すぐに新しいパスワードを設定し、新しい API キーを取得してください。',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'このメールは、設定で新しいログインの通知が有効になっているため送信されました。',
  'Your address at {name} has changed': '{name} のアドレスが変更されました',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    '{organization} のアカウントのアドレスは {email} になりました。ログインにはこのアドレスを使ってください。メールもここに届きます。',
  'If you did not change it, tell an administrator of the organization immediately.':
    'ご自身で変更していない場合は、すぐに組織の管理者に知らせてください。',
  'Welcome to {name}': '{name} へようこそ',
  'You have joined {name}. Log in with:': '{name} に参加しました。ログイン情報は次のとおりです。',
  'Organization: {url}': '組織: {url}',
  'Address: {email}': 'アドレス: {email}',
  'Password: the one you chose when you signed up': 'パスワード: 登録時に選んだもの',
  'Password: none; log in the same way as when you joined':
    'パスワード: なし（参加時と同じ方法でログインしてください）',
  'How to connect': '接続方法',
  'Your account at {name} has been deactivated': '{name} のアカウントが無効になりました',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} が {organization} のあなたのアカウントを無効にしました。今後ログインできません。',
  'An administrator': '管理者',
  'Comment by {person}:': '{person} のコメント:',
  'Second factor of your account at {name}': '{name} のアカウントの二段階認証',
  'A second factor was added to your account {email} at {organization}.':
    '{organization} のアカウント {email} に二段階認証が追加されました。',
  'A second factor was removed from your account {email} at {organization}.':
    '{organization} のアカウント {email} から二段階認証が削除されました。',
  'An administrator removed all second factors from your account {email} at {organization}.':
    '管理者が {organization} のアカウント {email} の二段階認証をすべて削除しました。',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    '心当たりがない場合は、すぐに新しいパスワードを設定し、アカウントの二段階認証を確認してください。',
  'Second factors of your account': 'アカウントの二段階認証',
  '{person} has invited you to join {name}': '{person} から {name} への招待',
  'Reminder: {subject}': 'リマインダー: {subject}',
  'Hello,': 'こんにちは。',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} があなたを {name} に招待しています。チームがチャンネルとトピックで会話する場所です。',
  'This is a reminder: the invitation expires soon.': 'これはリマインダーです。招待はまもなく期限切れになります。',
  'If you do not want to join, ignore this email.': '参加しない場合は、このメールを無視してください。',
  '{name} notifications': '{name} の通知',
  'Test notification': 'テスト通知',
  'This is a test notification from {organization}.': 'これは {organization} からのテスト通知です。',
  'New messages': '新しいメッセージ',
  'There are more messages in this conversation.': 'この会話にはほかにもメッセージがあります。',
  'This email does not include message content because you have disabled message content in email notifications.':
    'メール通知にメッセージの内容を含めない設定になっているため、このメールには内容がありません。',
  'This email does not include message content because your organization hides message content in email.':
    '組織がメールでメッセージの内容を非表示にしているため、このメールには内容がありません。',
  'DMs with {name}': '{name} とのダイレクトメッセージ',
  'Group DMs with {names}': '{names} とのグループメッセージ',
  '{count} more': 'ほか {count} 人',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'このメールは、ダイレクトメッセージのメール通知が有効になっているため送信されました。',
  'You are receiving this because you were personally mentioned.':
    'このメールは、あなたがメンションされたため送信されました。',
  'You are receiving this because @{group} was mentioned.':
    'このメールは、@{group} がメンションされたため送信されました。',
  'You are receiving this because all topic participants were mentioned.':
    'このメールは、トピックの参加者全員がメンションされたため送信されました。',
  'You are receiving this because everyone in the channel was mentioned.':
    'このメールは、チャンネルの全員がメンションされたため送信されました。',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'このメールは、フォロー中のトピックで全員へのメンションの通知が有効になっているため送信されました。',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'このメールは、フォロー中のトピックのメール通知が有効になっているため送信されました。',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'このメールは、{channel} のメール通知が有効になっているため送信されました。',
  'You are receiving this because you have email notifications enabled for the channel.':
    'このメールは、チャンネルのメール通知が有効になっているため送信されました。',
  'Do not reply to this email.': 'このメールには返信しないでください。',
  'Reply to this email directly, or in the chat.': 'このメールに直接返信するか、チャットで返信してください。',
  'View or reply in {name}': '{name} で表示または返信する',
  'Manage email preferences': 'メールの設定',
  Unsubscribe: '配信停止',
  'Weekly digest of {name}': '{name} の週間ダイジェスト',
  'Open {name}': '{name} を開く',
  '{name} digest': '{name} のダイジェスト',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'このメールは、数日間利用がなく、メールのダイジェストが有効になっているため送信されました。',
  'Unread messages: {messages}, senders: {senders}': '未読メッセージ: {messages}、送信者: {senders}',
  'New channels': '新しいチャンネル',
  'News of the last week in {name}:': '{name} の先週のニュース:',
  'Busy conversations: {count}': '活発な会話: {count}',
  'New channels: {count}': '新しいチャンネル: {count}',
};
