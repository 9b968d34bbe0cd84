//! The texts of the page, in each of its languages.

use crate::gate::decision::Reason;
use crate::http::language::Language;
use crate::http::problem_kind::ProblemKind;
use crate::limit::counted::counted;

/// The texts of one language that do not depend on the problem. A pair is the text before a time
/// and the text after it.
pub struct PageText {
    /// There is room again after a wait.
    pub room_after: (&'static str, &'static str),
    /// There may be room again after a wait: others come as well.
    pub room_may_be_after: (&'static str, &'static str),
    /// The next day of a quota begins at an instant.
    pub next_day: (&'static str, &'static str),
    /// The origin did not get the body of this request.
    pub not_received: &'static str,
    /// The link that repeats the request.
    pub try_again: &'static str,
    /// The link to the operator's page.
    pub read_more: &'static str,
    /// The page will repeat the request by itself.
    pub will_retry: &'static str,
    /// The page has repeated the request as often as it may.
    pub gave_up: &'static str,
    /// The page repeats the request now.
    pub trying: &'static str,
    /// The wait is over.
    pub try_now: &'static str,
    /// A part of the wait is left. The script puts the time in the place of `{}`.
    pub time_left: &'static str,
}

const ENGLISH: PageText = PageText {
    room_after: ("You can try again in ", "."),
    room_may_be_after: ("There may be room in ", "."),
    next_day: ("The next day’s quota begins on ", "."),
    not_received: "What you sent was not taken in. Please go back and send it again then.",
    try_again: "Try again",
    read_more: "Read more",
    will_retry: "This page tries again by itself when the time is up.",
    gave_up: "This page no longer tries by itself.",
    trying: "Trying again…",
    try_now: "You can try again now.",
    time_left: "{} left.",
};

const CHINESE: PageText = PageText {
    room_after: ("", "后可以重试。"),
    room_may_be_after: ("", "后可能会有空位，届时请重试。"),
    next_day: ("新的额度将于 ", " 开始。"),
    not_received: "您提交的内容没有被接收，届时请返回并重新提交。",
    try_again: "重试",
    read_more: "了解更多",
    will_retry: "时间一到，本页会自动重试。",
    gave_up: "本页不再自动重试。",
    trying: "正在重试…",
    try_now: "现在可以重试了。",
    time_left: "还剩 {}。",
};

const TRADITIONAL_CHINESE: PageText = PageText {
    room_after: ("", "後可以重試。"),
    room_may_be_after: ("", "後可能會有空位，屆時請重試。"),
    next_day: ("新的額度將於 ", " 開始。"),
    not_received: "您送出的內容沒有被接收，屆時請返回並重新送出。",
    try_again: "重試",
    read_more: "瞭解更多",
    will_retry: "時間一到，本頁會自動重試。",
    gave_up: "本頁不再自動重試。",
    trying: "正在重試…",
    try_now: "現在可以重試了。",
    time_left: "還剩 {}。",
};

impl Language {
    /// The texts of this language that do not depend on the problem.
    pub fn texts(self) -> &'static PageText {
        match self {
            Language::English => &ENGLISH,
            Language::Chinese => &CHINESE,
            Language::TraditionalChinese => &TRADITIONAL_CHINESE,
        }
    }

    /// The page's heading for a problem, and the sentence or two below it.
    pub fn heading_and_text(self, kind: ProblemKind) -> (&'static str, &'static str) {
        let [english, chinese, traditional] = headings(kind);
        match self {
            Language::English => english,
            Language::Chinese => chinese,
            Language::TraditionalChinese => traditional,
        }
    }

    /// A time of `secs` seconds in this language, rounded up to whole minutes, hours or days where
    /// it is long.
    pub fn duration(self, secs: u64) -> String {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        const DAY: u64 = 24 * HOUR;
        let (count, english, chinese, traditional) = match secs {
            0..120 => (secs, "second", "秒", "秒"),
            120..7_200 => (secs.div_ceil(MINUTE), "minute", "分钟", "分鐘"),
            7_200..172_800 => (secs.div_ceil(HOUR), "hour", "小时", "小時"),
            _ => (secs.div_ceil(DAY), "day", "天", "天"),
        };
        match self {
            Language::English => counted(count, english),
            Language::Chinese => format!("{count} {chinese}"),
            Language::TraditionalChinese => format!("{count} {traditional}"),
        }
    }
}

/// The heading and text of a problem in English, and in Chinese in simplified and in traditional
/// characters.
fn headings(kind: ProblemKind) -> [(&'static str, &'static str); 3] {
    match kind {
        ProblemKind::Limit(Reason::RateLimited) => [
            ("Too many requests", "You have sent too many requests in a short time."),
            ("请求太频繁", "您在短时间内发送了太多请求。"),
            ("請求太頻繁", "您在短時間內送出了太多請求。"),
        ],
        ProblemKind::Limit(Reason::QuotaExhausted) => [
            ("Today’s quota is used up", "All the requests that one day allows have been made."),
            ("今天的额度用完了", "一天所允许的请求都已用完。"),
            ("今天的額度用完了", "一天所允許的請求都已用完。"),
        ],
        ProblemKind::Limit(Reason::OverCapacity) | ProblemKind::Full => [
            ("It is crowded", "Very many people are here just now. It is nothing that you did."),
            ("现在访问的人太多", "这会儿人非常多，并不是您的问题。"),
            ("現在造訪的人太多", "這會兒人非常多，並不是您的問題。"),
        ],
        ProblemKind::Limit(Reason::LimiterUnavailable) => [
            ("Not available just now", "Something on our side does not answer. It is usually back in a moment."),
            ("暂时无法访问", "我们这边有服务没有响应，通常很快就会恢复。"),
            ("暫時無法造訪", "我們這邊有服務沒有回應，通常很快就會恢復。"),
        ],
        ProblemKind::Blocked => [
            ("No access", "Requests from your address are not accepted here."),
            ("无法访问", "这里不接受来自您的网络地址的请求。"),
            ("無法造訪", "這裡不接受來自您的網路位址的請求。"),
        ],
        ProblemKind::OriginUnreachable => [
            ("The site does not answer", "The server behind this page does not answer just now."),
            ("网站没有响应", "本页背后的服务器目前没有响应。"),
            ("網站沒有回應", "本頁背後的伺服器目前沒有回應。"),
        ],
        ProblemKind::OriginTimeout => [
            ("The site takes too long", "The server behind this page did not answer in time."),
            ("网站响应超时", "本页背后的服务器未能及时响应。"),
            ("網站回應逾時", "本頁背後的伺服器未能及時回應。"),
        ],
        ProblemKind::UploadTimeout => [
            ("The upload took too long", "What you sent did not arrive in time. Please send it again."),
            ("上传超时", "您提交的内容未能及时到达，请重新提交。"),
            ("上傳逾時", "您送出的內容未能及時到達，請重新送出。"),
        ],
        ProblemKind::Misconfigured => [
            ("Something is set up wrongly", "This site is not set up as it should be. Its operator has to see to it."),
            ("网站配置有误", "本网站的配置有问题，需要由运营者来处理。"),
            ("網站設定有誤", "本網站的設定有問題，需要由營運者來處理。"),
        ],
    }
}
