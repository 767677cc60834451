/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'تأكيد عنوانك في {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'أنت تسجل في {organization}. أكّد أن هذا عنوانك للمتابعة.',
  'The link expires after one day.': 'تنتهي صلاحية الرابط بعد يوم واحد.',
  'Complete registration': 'إكمال التسجيل',
  'If you did not request this, ignore this email.': 'إذا لم تطلب هذا، فتجاهل هذه الرسالة.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'سجّل شخص ما الدخول إلى {organization} من خلال خدمة لم تتحقق من هذا العنوان. أكّد أنه عنوانك وسجّل الدخول مرة أخرى.',
  'Confirm this address': 'تأكيد هذا العنوان',
  'Confirm your new address for {name}': 'تأكيد عنوانك الجديد في {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'أنت تغيّر عنوان حسابك في {organization} إلى {email}.',
  'Your account at {name}': 'حسابك في {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'لديك حساب، {email}، في {organization}. عيّن كلمة مرور لتسجيل الدخول.',
  'Set a password': 'تعيين كلمة مرور',
  'Set a new password for {name}': 'تعيين كلمة مرور جديدة في {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'طلب شخص ما كلمة مرور جديدة للحساب {email} في {organization}.',
  'Set a new password': 'تعيين كلمة مرور جديدة',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'الحساب معطل. يمكن لمسؤول في المؤسسة إعادة تفعيله.',
  'New log-in to {name}': 'تسجيل دخول جديد إلى {name}',
  'Someone logged in to your account {email} at {organization}.':
    'سجّل شخص ما الدخول إلى حسابك {email} في {organization}.',
  'Time: {time}': 'الوقت: {time}',
  'Program: {program}': 'البرنامج: {program}',
  'Network address: {ip}': 'عنوان الشبكة: {ip}',
  unknown: 'غير معروف',
  'If this was not you, set a new password immediately and get a new API key.':
    'إذا لم تكن أنت من فعل ذلك، فعيّن فوراً كلمة مرور جديدة واحصل على مفتاح API جديد.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'وصلتك هذه الرسالة لأن إشعارات البريد الإلكتروني بعمليات تسجيل الدخول الجديدة مفعلة في إعداداتك.',
  'Your address at {name} has changed': 'تم تغيير عنوانك في {name}',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'عنوان حسابك في {organization} هو الآن {email}. سجّل الدخول به؛ وإليه تُرسل رسائل البريد الإلكتروني أيضاً.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'إذا لم تكن أنت من غيّره، فأبلغ مسؤولاً في المؤسسة فوراً.',
  'Welcome to {name}': 'مرحباً بك في {name}',
  'You have joined {name}. Log in with:': 'لقد انضممت إلى {name}. سجّل الدخول باستخدام:',
  'Organization: {url}': 'المؤسسة: {url}',
  'Address: {email}': 'العنوان: {email}',
  'Password: the one you chose when you signed up': 'كلمة المرور: التي اخترتها عند التسجيل',
  'Password: none; log in the same way as when you joined':
    'كلمة المرور: لا توجد؛ سجّل الدخول بالطريقة نفسها التي انضممت بها',
  'How to connect': 'كيفية الاتصال',
  'Your account at {name} has been deactivated': 'تم تعطيل حسابك في {name}',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    'عطّل {person} حسابك في {organization}. لم يعد بإمكانك تسجيل الدخول.',
  'An administrator': 'مسؤول',
  'Comment by {person}:': 'تعليق من {person}:',
  'Second factor of your account at {name}': 'عامل التحقق الثاني لحسابك في {name}',
  'A second factor was added to your account {email} at {organization}.':
    'تمت إضافة عامل تحقق ثانٍ إلى حسابك {email} في {organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'تمت إزالة عامل تحقق ثانٍ من حسابك {email} في {organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'أزال مسؤول كل عوامل التحقق الثانية من حسابك {email} في {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'إذا لم تكن تتوقع هذا، فعيّن فوراً كلمة مرور جديدة وتحقق من عوامل التحقق الثانية لحسابك.',
  'Second factors of your account': 'عوامل التحقق الثانية لحسابك',
  '{person} has invited you to join {name}': 'دعوة من {person} للانضمام إلى {name}',
  'Reminder: {subject}': 'تذكير: {subject}',
  'Hello,': 'مرحباً،',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    'يدعوك {person} للانضمام إلى {name}، حيث تتحدث فرق العمل في قنوات ومواضيع.',
  'This is a reminder: the invitation expires soon.': 'هذا تذكير: ستنتهي صلاحية الدعوة قريباً.',
  'If you do not want to join, ignore this email.': 'إذا كنت لا تريد الانضمام، فتجاهل هذه الرسالة.',
  '{name} notifications': 'إشعارات {name}',
  'Test notification': 'إشعار تجريبي',
  'This is a test notification from {organization}.': 'هذا إشعار تجريبي من {organization}.',
  'New messages': 'رسائل جديدة',
  'There are more messages in this conversation.': 'توجد رسائل أخرى في هذه المحادثة.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'لا يتضمن هذا البريد محتوى الرسائل لأنك عطلت محتوى الرسائل في إشعارات البريد الإلكتروني.',
  'This email does not include message content because your organization hides message content in email.':
    'لا يتضمن هذا البريد محتوى الرسائل لأن مؤسستك تخفي محتوى الرسائل في البريد الإلكتروني.',
  'DMs with {name}': 'رسائل مباشرة مع {name}',
  'Group DMs with {names}': 'رسائل جماعية مباشرة مع {names}',
  '{count} more': '{count} غيرهم',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'وصلتك هذه الرسالة لأن إشعارات البريد الإلكتروني مفعلة لديك للرسائل المباشرة.',
  'You are receiving this because you were personally mentioned.': 'وصلتك هذه الرسالة لأنه تمت الإشارة إليك شخصياً.',
  'You are receiving this because @{group} was mentioned.': 'وصلتك هذه الرسالة لأنه تمت الإشارة إلى @{group}.',
  'You are receiving this because all topic participants were mentioned.':
    'وصلتك هذه الرسالة لأنه تمت الإشارة إلى كل المشاركين في الموضوع.',
  'You are receiving this because everyone in the channel was mentioned.':
    'وصلتك هذه الرسالة لأنه تمت الإشارة إلى كل من في القناة.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'وصلتك هذه الرسالة لأن إشعارات الإشارة إلى الجميع مفعلة لديك للمواضيع التي تتابعها.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'وصلتك هذه الرسالة لأن إشعارات البريد الإلكتروني مفعلة لديك للمواضيع التي تتابعها.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'وصلتك هذه الرسالة لأن إشعارات البريد الإلكتروني مفعلة لديك للقناة {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'وصلتك هذه الرسالة لأن إشعارات البريد الإلكتروني مفعلة لديك لهذه القناة.',
  'Do not reply to this email.': 'يرجى عدم الرد على هذه الرسالة.',
  'Reply to this email directly, or in the chat.': 'يمكنك الرد على هذه الرسالة مباشرة أو في الدردشة.',
  'View or reply in {name}': 'العرض أو الرد في {name}',
  'Manage email preferences': 'إدارة تفضيلات البريد الإلكتروني',
  Unsubscribe: 'إلغاء الاشتراك',
  'Weekly digest of {name}': 'الملخص الأسبوعي من {name}',
  'Open {name}': 'فتح {name}',
  '{name} digest': 'ملخص {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'وصلتك هذه الرسالة لأنك لم تكن نشطاً لبضعة أيام ولأن ملخصات البريد الإلكتروني مفعلة لديك.',
  'Unread messages: {messages}, senders: {senders}': 'الرسائل غير المقروءة: {messages}، المرسلون: {senders}',
  'New channels': 'قنوات جديدة',
  'News of the last week in {name}:': 'أخبار الأسبوع الماضي في {name}:',
  'Busy conversations: {count}': 'المحادثات النشطة: {count}',
  'New channels: {count}': 'القنوات الجديدة: {count}',
};
